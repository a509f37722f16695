// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// The document that C++ made, with its numbers turned into references.

const JOIN = "\u001f";

class Rows {
  constructor({count, columns}) {
    this.count = count;
    this.columns = new Map(columns.map(([path, values]) => [path.join(JOIN), values]));
    this.paths = columns.map(([path]) => path);
  }

  // undefined: the row has no such leaf.
  value(row, ...path) {
    return this.columns.get(path.join(JOIN))?.[row] ?? undefined;
  }
}

export class Model {
  constructor(document) {
    Object.assign(this, document);
    this.rows = new Rows(document.rows);
    this.runs.forEach((run, index) => {
      run.index = index;
    });
    this.points.forEach((point, index) => {
      point.index = index;
      point.map = new Map(point.values);
      point.id = JSON.stringify(point.values);
    });
    this.machines.forEach((machine, index) => {
      machine.index = index;
    });
    this.cases.forEach((one, index) => {
      one.index = index;
      one.points = this.points.filter((point) => point.case === index);
      one.summaries = [];
    });
    this.summaries.forEach((s, index) => {
      s.index = index;
      s.place = `${this.machines[s.machine].name}, ${s.platform}, ${s.cores} core${s.cores === 1 ? "" : "s"}${
          s.isolation === "in-process" ? ", in-process" : ""}`;
      this.cases[s.case].summaries.push(s);
    });
    for (const one of this.cases) {
      setAside(one);
      const usual = new Set(one.summaries.filter((s) => s.aside !== "self").map((s) => s.point));
      const rest = one.points.filter((point) => !usual.has(point.index));
      one.varying = varying(one.points.filter((point) => usual.has(point.index)));
      const every = rest.length ? varying(one.points) : one.varying;
      one.points.sort((a, b) => inOrder(a, b, asRead(every)));
      for (const point of one.points) point.label = label(point, usual.has(point.index) ? one.varying : every);
      const names = [...new Set(one.summaries.map((s) => s.provider))].sort();
      const shown = new Set(one.summaries.filter((s) => !s.aside).map((s) => s.provider));
      const rank = (name) => (name === one.baseline ? 0 : shown.has(name) ? 1 : 2);
      one.providers = names.sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
      const rows = (place) => one.summaries.filter((s) => s.place === place && !s.aside).length;
      one.places = [...new Set(one.summaries.map((s) => s.place))].sort((a, b) => rows(b) - rows(a));
      one.title = one.name;
    }
    for (const series of this.history) {
      series.of = this.summaries[series.points[0].summary];  // whose series it is
      for (const {summary, relative, relative_low, relative_high} of series.points)
        Object.assign(this.summaries[summary], {relative, relative_low, relative_high});
    }
    const rank = new Map(this.cases.flatMap((one) => one.points).map((point, i) => [point.index, i]));
    for (const one of this.cases)
      one.summaries.sort(
          (a, b) => rank.get(a.point) - rank.get(b.point) || a.run - b.run || b.baseline - a.baseline ||
              a.provider.localeCompare(b.provider));
    this.pairOf = new Map(this.pairs.map(([a, b, ...numbers]) => [a + "/" + b, numbers]));
    this.latest = this.cases.flatMap((one) => one.summaries).filter((s) => s.latest);
  }

  case(name) {
    return this.cases.find((one) => one.name === name);
  }
  runLabel(index) {
    const run = this.runs[index];
    return (run.time ? run.time.slice(5, 16).replace("T", " ") : run.id.slice(4, 13));
  }
  // On an axis of these runs: the day, or the time where they are all of one day.
  runTick(index, runs) {
    const day = (one) => this.runLabel(one).slice(0, 5);
    return runs.every((one) => day(one) === day(runs[0])) ? this.runLabel(index).slice(6) : day(index);
  }
  commit(index) {
    return (this.runs[index].commit || "").slice(0, 7) || "no commit";
  }
  // Where the commit of a run can be looked at; nothing where nobody said so, or it is no commit.
  commitUrl(index) {
    const commit = this.runs[index].commit || "";
    const known = this.commit_url && /^https?:\/\//.test(this.commit_url) && /^[0-9a-f]{7,64}$/.test(commit);
    return known ? this.commit_url.replace("{commit}", commit) : null;
  }
  runTitle(index) {
    const run = this.runs[index];
    return [
      run.id, "commit " + this.commit(index) + (run.dirty ? " with uncommitted changes" : ""),
      run.branch ? "branch " + run.branch : "", run.label ? "label " + run.label : ""
    ].filter(Boolean)
        .join(", ");
  }
}

// What a reader asks for rarely: comparisons of a thing with itself ("self"), and providers that were
// measured nowhere ("absent"). Where there is nothing else, it is what there is.
function setAside(one) {
  const measured = (s) => s.status !== "env_missing" && s.status !== "skipped";
  const present = new Set(one.summaries.filter(measured).map((s) => s.provider));
  for (const s of one.summaries) s.aside = s.self ? "self" : present.has(s.provider) ? "" : "absent";
  if (one.summaries.some((s) => !s.aside)) return;
  for (const s of one.summaries) s.aside = "";
}

// A seed makes another of the same, so it is the last that anything is ordered or drawn by.
const isSeed = ({name}) => Number(name === "seed");

// As a point is read: what is not a number first, sizes next, the seed last.
const asRead = (parameters) =>
    [...parameters.filter((p) => !isSeed(p)).reverse(), ...parameters.filter(isSeed)];

// The parameters that differ among points, those with numbers first, then by the number of values.
function varying(points) {
  const values = new Map();
  for (const point of points) {
    for (const [name] of point.values) values.set(name, new Set());
  }
  for (const [name, seen] of values) {
    for (const point of points) seen.add(JSON.stringify(point.map.get(name)));
  }
  return [...values]
      .filter(([, seen]) => seen.size > 1)
      .map(([name, seen]) => ({
             name,
             numeric: points.every((point) => typeof point.map.get(name) === "number"),
             values:
                 [...new Map(points.map((p) => [JSON.stringify(p.map.get(name)), p.map.get(name)])).values()]
                     .sort(
                         (a, b) =>
                             (typeof a === "number" && typeof b === "number" ?
                                  a - b :
                                  String(a).localeCompare(String(b)))),
             size: seen.size,
           }))
      .sort((a, b) => isSeed(a) - isSeed(b) || b.numeric - a.numeric || b.size - a.size);
}

export const text = (value) =>
    (typeof value === "string" ? value :
         value === undefined   ? "–" :
                                 JSON.stringify(value));

// By what is not a number first, so that sizes ascend within each choice of the rest.
function inOrder(a, b, parameters) {
  for (const {name} of parameters) {
    const [x, y] = [a.map.get(name), b.map.get(name)];
    const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
    if (order) return order;
  }
  return a.index - b.index;
}

function label(point, parameters) {
  const shown = parameters.length ? asRead(parameters).map(({name}) => [name, point.map.get(name)]) :
                                    point.values.filter(([name]) => name !== "seed");
  return shown.filter(([, value]) => value !== undefined)
             .map(([name, value]) => typeof value === "string" ? value : `${name} = ${text(value)}`)
             .join(", ") ||
      "the only point";
}
