// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// Two runs beside each other: what both measured, row by row.
import {h, section, empty, choice} from "./dom.js";
import {asideNote, visible} from "./aside.js";
import {chart, css, esc, narrow} from "./charts.js";
import {commit} from "./cells.js";
import {table} from "./table.js";
import {caseLink} from "./view_results.js";
import {pick} from "./choose.js";
import * as state from "./state.js";
import * as f from "./format.js";

const MOST = 30;  // rows in the chart: the farthest from 1

const keyOf = (s) => [s.case, s.point, s.provider, s.place].join("\u001f");

export function runsPage(model, _, redraw) {
  const head = h("h1", {}, "Run against run");
  if (model.runs.length < 2)
    return [
      head,
      section(
          "One run only",
          empty(
              "Two runs of the same case are needed. Measure again, then make the page anew:",
              "assay run semiring_matmul --quick", "assay site --out site.html"))
    ];
  const ids = model.runs.map((run) => run.id).reverse();
  const to = pick("to", ids, newest(model));
  const from = pick("from", ids.filter((id) => id !== to), usual(model, to));
  const run = (id) => model.runs.find((one) => one.id === id);
  const [a, b] = [run(from), run(to)];
  const set = (changes) => {
    state.set(changes);
    redraw();
  };
  const label = (one) => [
    model.runLabel(one.index), model.commit(one.index), f.short(one.label || "", 20),
    f.count(one.rows, "row")].filter(Boolean).join("  ");
  const shared = inCommon(model, b.index);
  const options = (not, common) =>
      [...model.runs]
          .reverse()
          .filter((one) => one.id !== not)
          .map((one) => [one.id, label(one) + (common ? `, ${shared.get(one.index) || 0} in common` : "")]);
  const of = (one) => new Map(model.summaries.filter((s) => s.run === one.index).map((s) => [keyOf(s), s]));
  const [inA, inB] = [of(a), of(b)];
  const every = [...inB].filter(([key]) => inA.has(key)).map(([key, s]) => s);
  const rows = visible(every).map((s) => beside(model, inA.get(keyOf(s)), s, a.index < b.index));
  const only = (one, other) => visible([...one.values()]).filter((s) => !other.has(keyOf(s))).length;
  const count = (reading) => rows.filter((row) => row.reading === reading).length;
  return [
    head,
    h("p", {class: "lead"}, "A is ", h("code", {}, a.id), ", commit ", commit(model, a.index), "; B is ",
      h("code", {}, b.id), ", commit ", commit(model, b.index), ". Ratios are B over A, below 1 B is smaller."),
    h("div", {class: "controls"}, choice("A", options(to, true), from, (id) => set({from: id}), "from"),
      choice("B", options(from), to, (id) => set({to: id}), "to"),
      h("button", {type: "button", class: "swap", onclick: () => set({from: to, to: from})}, "Swap")),
    section(
        "Rows of both",
        h("p", {class: "note"},
          `${f.count(rows.length, "row")} in both: ${count("slower")} slower, ${count("faster")} faster, ${
              count("perhaps slower") + count("perhaps faster")} perhaps, ${
              count("no difference shown")} without a difference; ${only(inA, inB)} in A only, ${
              only(inB, inA)} in B only. The runs were made at different times, so whatever changed on the machine is part of a ratio. Perhaps: its interval leaves out 1, but all rows together do not confirm it, or it is less than the 5 % by which runs made apart differ with nothing changed.`),
        asideNote(every, redraw), rows.length ? ratios(model, rows) : null,
        rows.length ? pairTable(model, rows) :
                      empty("These two runs measured nothing in common.", "assay run --help"),
        h("p", {class: "note"},
          "The same in a terminal, and for runs that are not on this page: ",
          h("code", {class: "breakable"}, `assay compare ${a.id} ${b.id}`))),
  ];
}

// The newest run that says something about the cases, not about the machine, and of which an earlier
// one says something too.
function newest(model) {
  const seen = new Set();
  let best = model.runs.length - 1, found = false;
  for (const s of [...model.summaries].sort((a, b) => a.run - b.run)) {
    if (s.aside) continue;
    if (seen.has(keyOf(s)) && (!found || s.run >= best)) [best, found] = [s.run, true];
    seen.add(keyOf(s));
  }
  return model.runs[best].id;
}

// How many rows each run shares with this one.
function inCommon(model, b) {
  const keys = new Set(model.summaries.filter((s) => s.run === b && !s.aside).map(keyOf));
  const shared = new Map();
  for (const s of model.summaries)
    if (!s.aside && s.run !== b && keys.has(keyOf(s))) shared.set(s.run, (shared.get(s.run) || 0) + 1);
  return shared;
}

// The run before it that has most in common with it.
function usual(model, to) {
  const b = model.runs.find((one) => one.id === to).index;
  const shared = inCommon(model, b);
  const rank = ([run, count]) => [run < b ? 1 : 0, count, run];
  const best = [...shared].sort((x, y) => {
    const [p, q] = [rank(x), rank(y)];
    return q[0] - p[0] || q[1] - p[1] || q[2] - p[2];
  })[0];
  const others = model.runs.filter((one) => one.index !== b);
  return best ? model.runs[best[0]].id : others[others.length - 1].id;
}

// The ratio was made where the page was: of the earlier run and the later one.
function beside(model, a, b, forward) {
  const known = model.pairOf.get(forward ? a.index + "/" + b.index : b.index + "/" + a.index);
  let [ratio, low, high, differs] = known || [];
  if (known && !forward) [ratio, low, high] = [1 / ratio, high && 1 / high, low && 1 / low];
  const better = model.cases[b.case].more_is_better;
  let reading = "";
  if (a.status !== "ok" || b.status !== "ok")
    reading = a.status === b.status ? "both: " + b.status :
        a.status !== "ok"           ? "A: " + a.status :
                                      "B: " + b.status;
  else if (!known)
    reading = "not compared here";
  else if (!f.known(low))
    reading = "too few attempts to say";
  else
    reading = low <= 1 && high >= 1 ?
        "no difference shown" :
        (differs ? "" : "perhaps ") + ((ratio > 1) !== Boolean(better) ? "slower" : "faster");
  return {a, b, ratio, low, high, reading: reading.replace(/_/g, " ")};
}

const toneOf = (row) => (row.reading === "slower" ? "bad" : row.reading === "faster" ? "good" : "");

function ratios(model, rows) {
  const far = (row) => Math.abs(Math.log(row.ratio));
  const shown = rows.filter((row) => f.known(row.ratio) && f.known(row.low)).sort((x, y) => far(y) - far(x)).slice(0, MOST);
  if (!shown.length) return null;
  const name = (row) => `${row.b.provider}, ${model.points[row.b.point].label}`;
  const places = shown.map((_, i) => i);
  const colour = (row) => css(toneOf(row) === "bad" ? "--bad" : toneOf(row) === "good" ? "--good" : "--faint");
  return chart({
    id: "pairs",
    title: "B over A",
    describe: "Ratios with intervals; the numbers are in the table below",
    legend: false,
    note: rows.length > shown.length ? `The ${shown.length} that are farthest from 1.` : "",
    series: [{
      name: "ratio",
      look: {},
      traces: [{
        type: "scatter",
        mode: "markers",
        x: shown.map((row) => row.ratio),
        y: places,
        marker: {color: shown.map(colour), size: 8},
        error_x: {
          type: "data",
          symmetric: false,
          thickness: 1.5,
          width: 3,
          color: css("--faint"),
          array: shown.map((row) => row.high - row.ratio),
          arrayminus: shown.map((row) => row.ratio - row.low)
        },
        hoverinfo: "text",
        text: shown.map(
            (row) => `<b>${esc(f.short(row.b.provider, 60))}</b><br>${esc(f.short(model.cases[row.b.case].name, 60))}: ${
                esc(f.short(model.points[row.b.point].label, 80))}<br>${
                f.withInterval(row.ratio, row.low, row.high, f.ratio)}`)
      }]
    }],
    labels: {xaxis: (value) => f.ratio(value).replace(/\.?0+$/, "")},
    layout: () => ({
      height: 110 + 22 * shown.length,
      margin: {l: 64, r: 20, t: 10, b: 46},
      xaxis: {type: "log", title: "B / A"},
      yaxis: {
        tickvals: places,
        ticktext: shown.map((row) => esc(f.short(name(row), narrow() ? 22 : 48))),
        autorange: "reversed",
        showgrid: false,
        zeroline: false,
        ticks: ""
      },
      shapes: [{
        type: "line", xref: "x", yref: "paper", x0: 1, x1: 1, y0: 0, y1: 1,
        line: {color: css("--text"), width: 1}
      }]
    }),
  });
}

function pairTable(model, rows) {
  const median = (s) => f.quantity(s.median, model.cases[s.case].kind, model.cases[s.case].unit);
  return table({
    id: "pair",
    caption: "Rows of both runs",
    cards: true,
    rows,
    columns: [
      {
        title: "Case",
        card: "sub",
        value: (row) => model.cases[row.b.case].name,
        cell: (row) => caseLink(model, row.b, model.cases[row.b.case].name)
      },
      {
        title: "Point",
        card: "sub",
        value: (row) => model.points[row.b.point].label,
        cell: (row) => h("span", {class: "clip"}, model.points[row.b.point].label)
      },
      {
        title: "Provider",
        card: "head",
        value: (row) => row.b.provider,
        cell: (row) => h("span", {class: "clip", title: row.b.provider}, row.b.provider)
      },
      {title: "Machine", card: "sub", value: (row) => row.b.place, cell: (row) => row.b.place},
      {title: "A", number: true, value: (row) => row.a.median, cell: (row) => median(row.a)},
      {title: "B", number: true, value: (row) => row.b.median, cell: (row) => median(row.b)},
      {
        title: "B / A",
        card: "line",
        unit: "[95 %]",
        number: true,
        hint: "by ranks of attempts; below 1 B is smaller",
        value: (row) => row.ratio,
        cell: (row) => f.withInterval(row.ratio, row.low, row.high, f.ratio)
      },
      {
        title: "Reading",
        card: "verdict",
        value: (row) => row.reading,
        cell: (row) => h("span", {class: "verdict " + toneOf(row)}, row.reading)
      },
    ],
  });
}
