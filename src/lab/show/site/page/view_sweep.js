// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// A value against a parameter: one line for each run; or the same setting joined across runs; or a
// surface where two parameters vary.
import {h, section, empty, choice} from "./dom.js";
import {visible} from "./aside.js";
import {chart, dark, esc, look, narrow, shade, thinned} from "./charts.js";
import {chooseCase, choosePlace, chooseAxis, chooseSecond, fixOthers, pick} from "./choose.js";
import {planeCharts} from "./view_plane.js";
import {axisOf} from "./view_case.js";
import * as state from "./state.js";
import * as f from "./format.js";

const LINES = 12;  // runs in one chart; older ones are left out, and the note says so

// What can be plotted of a summary.
const values = (one) =>
    [{
      key: "median",
      title: one.metric.replace(/_/g, " "),
      label: (v) => f.tick(v, one.kind, one.unit),
      name: "median of " + one.metric.replace(/_/g, " "),
      show: (v) => f.quantity(v, one.kind, one.unit),
      get: (s) => [s.median, s.low, s.high],
      log: true,
      text: (s) => f.quantityInterval(s.median, s.low, s.high, one.kind, one.unit)
    },
     {
       key: "relative",
       title: one.metric.replace(/_/g, " ") + " / first level",
       name: "relative to the first level",
       show: f.ratio,
       get: (s) => [s.relative, s.relative_low, s.relative_high],
       text: (s) =>
           f.withInterval(s.relative, s.relative_low, s.relative_high, f.ratio) + " of the first level"
     },
     {
       key: "ratio",
       title: "ratio to the baseline",
       name: "ratio to the baseline",
       show: f.ratio,
       get: (s) => [s.ratio, s.ratio_low, s.ratio_high],
       text: (s) => f.withInterval(s.ratio, s.ratio_low, s.ratio_high, f.ratio)
     },
     {
       key: "limit",
       title: "of limit / %",
       name: "fraction of the limit",
       get: (s) => [f.known(s.limit) ? 100 * s.limit : undefined],
       text: (s) => f.percent(s.limit, 1)
     },
     {
       key: "memory",
       title: "peak memory / MiB",
       name: "peak memory",
       get: (s) => [f.known(s.memory) ? s.memory / 2 ** 20 : undefined],
       text: (s) => f.bytes(s.memory)
     },
     {
       key: "error",
       title: "error / tolerance",
       name: "error over tolerance",
       get: (s) => [s.error],
       text: (s) => f.plain(s.error)
     },
     ...Object.entries(one.more || {}).filter(([name]) => name !== one.metric).map(([name, of]) => more(name, of)),
];

// A metric that is told beside the primary one.
const more = (name, {kind, unit, description}) => {
  const words = name.replace(/_/g, " "), get = (s) => (s.more && s.more[name]) || [];
  return {
    key: name,
    title: words,
    name: words,
    description,
    label: (v) => f.tick(v, kind, unit),
    show: (v) => f.quantity(v, kind, unit),
    get,
    log: kind === "time",
    text: (s) => f.quantityInterval(...[0, 1, 2].map((i) => get(s)[i]), kind, unit)
  };
};

export function sweepPage(model, now, redraw) {
  const usable = model.cases.filter((one) => one.varying.some((p) => p.name !== "seed"));
  if (!usable.length) {
    return [
      h("h1", {}, "Sweep"),
      section(
          "Nothing to sweep",
          empty(
              "No case was measured at two points. Measure a grid:",
              "assay run semiring_matmul --points all"))
    ];
  }
  const one = model.case(now.name) || usable[0];
  const title = h("h1", {class: "breakable"}, "Sweep of " + one.name);
  const [place, placeChoice] = choosePlace(model, one, redraw);
  const list = visible(one.summaries.filter((s) => s.place === place));
  const providers =
      one.providers.filter((name) => list.some((s) => s.provider === name && f.known(s.median)));
  const points = one.points.filter((point) => list.some((s) => s.point === point.index));
  const [axis, axisChoice] = chooseAxis(one, points, redraw);
  if (!axis || !providers.length) {
    return [
      title, h("div", {class: "controls"}, chooseCase(model, "sweep", one), placeChoice),
      section(
          "Nothing to sweep",
          empty(
              "This case was measured at one point only here. Measure a grid:",
              `assay run ${f.short(one.name, 60)} --points all`))
    ];
  }
  const provider = pick("provider", providers, providers.find((name) => name !== one.baseline));
  const providerChoice =
      choice("Provider", providers.map((name) => [name, f.short(name, 40)]), provider, (value) => {
        state.set({provider: value});
        redraw();
      }, "provider");
  const kinds = values(one);
  const value = kinds.find((kind) => kind.key === pick("value", kinds.map((kind) => kind.key)));
  const valueChoice = choice("Value", kinds.map((kind) => [kind.key, kind.name]), value.key, (key) => {
    state.set({value: key});
    redraw();
  }, "value");
  const own = list.filter((s) => s.provider === provider && s.status === "ok");
  const [line, fixed] = fixOthers(one, points, [axis], redraw);
  const [second, secondChoice] = chooseSecond(one, points, redraw, axis);
  const [plane, fixedPlane] =
      second ? fixOthers(one, points, [axis, ...(second.together || [second])], redraw) : [[], []];
  return [
    title,
    h("p", {class: "lead"},
      "How one provider's value follows a parameter, in every run that measured it." +
          (value.description ? ` ${value.title}: ${value.description}.` : "")),
    h("div", {class: "controls"}, chooseCase(model, "sweep", one), placeChoice, providerChoice, valueChoice,
      axisChoice),
    section(
        "Over the parameter", h("div", {class: "controls"}, fixed),
        h("div", {class: "two"}, byRun(model, one, own, line, axis, value),
          acrossRuns(model, one, own, line, axis, value))),
    second ? section(
                 "Over two parameters", h("div", {class: "controls"}, secondChoice, fixedPlane),
                 planeCharts(model, one, own, plane, axis, second, value)) :
             section(
                 "Over two parameters",
                 empty(
                     "A surface needs a second parameter that varies.",
                     `assay run ${f.short(one.name, 60)} --points all`)),
  ];
}

export const errorBars = (rows, value, colour) => {
  const parts = rows.map((s) => value.get(s));
  return {
    type: "data",
    symmetric: false,
    thickness: 1.2,
    width: 4,
    color: colour,
    array: parts.map(([v, , high]) => (f.known(high) ? high - v : 0)),
    arrayminus: parts.map(([v, low]) => (f.known(low) ? v - low : 0))
  };
};

export const hover = (model, s, value, extra) =>
    `<b>${esc(f.short(s.provider, 60))}</b><br>${esc(f.short(model.points[s.point].label, 90))}<br>${
        esc(value.text(s))}<br>commit ${esc(model.commit(s.run))}${
        model.runs[s.run].dirty ? " with uncommitted changes" :
                                  ""}<br>${esc(f.short(model.runs[s.run].id, 60))}${extra || ""}`;

function byRun(model, one, own, points, axis, value) {
  const wanted = new Set(points.map((point) => point.index));
  const usable = own.filter((s) => wanted.has(s.point) && f.known(value.get(s)[0]));
  const all = [...new Set(usable.map((s) => s.run))].sort((a, b) => a - b);
  const runs = all.slice(-LINES);
  if (!runs.length)
    return h(
        "div", {}, h("h3", {}, "One line for each run"),
        empty(
            "No run has this value. The fraction of the limit needs measured ceilings:",
            "assay doctor --peaks"));
  const series = runs.map((run, i) => {
    const rows =
        usable.filter((s) => s.run === run)
            .sort(
                (a, b) => before(
                    model.points[a.point].map.get(axis.name), model.points[b.point].map.get(axis.name)));
    const colour = shade(i, runs.length);
    return {
      name: model.runLabel(run) + " " + model.commit(run),
      look: {colour, symbol: "circle"},
      traces: [{
        type: "scatter",
        mode: "lines+markers",
        cliponaxis: false,
        x: rows.map((s) => model.points[s.point].map.get(axis.name)),
        y: rows.map((s) => value.get(s)[0]),
        line: {color: colour, width: 2},
        marker: {color: colour, size: 7},
        error_y: errorBars(rows, value, colour),
        hoverinfo: "text",
        text: rows.map((s) => hover(model, s, value)),
      }]
    };
  });
  return chart({
    id: "byrun",
    labels: value.label ? {yaxis: value.label} : {},
    title: "One line for each run",
    series,
    note: (dark() ? "Dim is old, bright is new." : "Light is old, dark is new.") +
        (all.length > runs.length ? ` The newest ${LINES} of ${all.length} runs.` : ""),
    layout: () => ({xaxis: axisOf(axis), yaxis: {title: value.title, type: value.log ? "log" : "linear"}}),
  });
}

export const before = (a, b) =>
    (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));

function acrossRuns(model, one, own, points, axis, value) {
  const runs = [
    ...new Set(own.filter((s) => points.some((p) => p.index === s.point) && f.known(value.get(s)[0]))
                   .map((s) => s.run))
  ].sort((a, b) => a - b);
  if (!runs.length) return null;
  const sorted = [...points].sort((a, b) => before(a.map.get(axis.name), b.map.get(axis.name)));
  const series = sorted
                     .map((point, i) => {
                       const rows = own.filter((s) => s.point === point.index && f.known(value.get(s)[0]))
                                        .sort((a, b) => a.run - b.run);
                       const style = look(i, false);
                       return {
                         name: `${axis.name} = ${point.map.get(axis.name)}`,
                         look: style,
                         traces: rows.length ? [{
                           type: "scatter",
                           mode: "lines+markers",
                           cliponaxis: false,
                           x: rows.map((s) => model.runs[s.run].id),
                           y: rows.map((s) => value.get(s)[0]),
                           line: {color: style.colour, width: 2, dash: style.dash},
                           marker: {color: style.colour, symbol: style.symbol, size: 7},
                           error_y: errorBars(rows, value, style.colour),
                           hoverinfo: "text",
                           text: rows.map((s) => hover(model, s, value)),
                         }] :
                                               []
                       };
                     })
                     .filter((one) => one.traces.length);
  const ids = runs.map((run) => model.runs[run].id);
  return chart({
    id: "across",
    labels: value.label ? {yaxis: value.label} : {},
    title: "The same setting across runs",
    series,
    note: "Runs in order of time; the commit is in the box that a marker shows.",
    layout: () => ({
      xaxis: {
        type: "category",
        categoryorder: "array",
        categoryarray: ids,
        tickvals: thinned(ids, narrow() ? 5 : 9),
        ticktext: thinned(runs, narrow() ? 5 : 9).map((run) => model.runTick(run, runs)),
        title: "run, by time"
      },
      yaxis: {title: value.title, type: value.log ? "log" : "linear"}
    }),
  });
}
