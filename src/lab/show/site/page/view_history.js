// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// One point over the runs: every provider's series, its stretches of one level, where they change.
import {h, section, empty, choice} from "./dom.js";
import {chart, css, esc, lookOf, narrow, thinned} from "./charts.js";
import {commit} from "./cells.js";
import {table} from "./table.js";
import {chooseCase, choosePlace, choosePoint, pick} from "./choose.js";
import * as state from "./state.js";
import * as f from "./format.js";

export function historyPage(model, now, redraw) {
  if (!model.history.length) {
    return [
      h("h1", {}, "History"),
      section(
          "No history yet",
          empty(
              "A series needs the same case, point, provider and machine in two runs. Measure again, at another commit:",
              "assay run semiring_matmul --quick", "assay site --out site.html"))
    ];
  }
  const seriesOf = (one) => model.history.filter((series) => series.of.case === one.index);
  const first = model.history.find((series) => series.changes.length) || model.history[0];
  const one = model.case(now.name) || model.cases[first.of.case];
  const own = seriesOf(one);
  const head = [h("h1", {class: "breakable"}, "History of " + one.name)];
  const [place, placeChoice] = choosePlace(model, one, redraw);
  const here = own.filter((series) => series.of.place === place && (state.get("all") || !series.of.aside));
  const points = one.points.filter((point) => here.some((series) => series.of.point === point.index));
  if (!points.length) {
    return [
      ...head, h("div", {class: "controls"}, chooseCase(model, "history", one), placeChoice),
      section(
          "No history yet",
          empty(
              "This case was measured in one run only on this machine. Measure it again, at another commit:",
              `assay run ${f.short(one.name, 60)}`))
    ];
  }
  // A point with a change says more than the first one.
  const longest = [...here].sort((a, b) => b.points.length - a.points.length)[0];
  const telling = here.find((series) => series.changes.length) || longest;
  if (!state.get("point") && telling) state.set({point: model.points[telling.of.point].id});
  const [point, pointChoice] = choosePoint(points, redraw);
  const shown = here.filter((series) => series.of.point === point.index);
  const scale = pick("scale", ["relative", "absolute"]);
  const scaleChoice = choice(
      "Scale", [["relative", "relative to the first level"], ["absolute", "in " + (one.unit || "its unit")]],
      scale, (value) => {
        state.set({scale: value === "relative" ? "" : value});
        redraw();
      }, "scale");
  return [
    ...head,
    h("p", {class: "lead"},
      `${one.metric.replace(/_/g, " ")}${
          one.unit && one.unit !== "1" ?
              " in " + one.unit :
              ""}: medians of each run with 95 % intervals. Rules mark stretches of one level, dotted lines the runs where a level changed.`),
    h("div", {class: "controls"}, chooseCase(model, "history", one), placeChoice, pointChoice, scaleChoice),
    section("Series", historyChart(model, one, shown, scale)),
    section("Change points of this case", changeTable(model, own)),
  ];
}

function historyChart(model, one, shown, scale) {
  const relative = scale === "relative";
  const runs = [...new Set(shown.flatMap((series) => series.points.map((p) => p.run)))].sort((a, b) => a - b);
  const category = (run) => model.runs[run].id;
  const series = shown.map((line) => {
    const own = line.points;
    const name = line.of.provider;
    const look = lookOf(name, one.providers, one.baseline);
    const value = own.map((p) => (relative ? p.relative : p.value));
    const low = own.map((p) => (relative ? p.relative_low : p.low)),
          high = own.map((p) => (relative ? p.relative_high : p.high));
    const traces = [{
      type: "scatter",
      mode: "lines+markers",
      x: own.map((s) => category(s.run)),
      y: value,
      line: {color: look.colour, width: 1, dash: "dot"},
      marker: {color: look.colour, symbol: look.symbol, size: 9, line: {color: css("--card"), width: 1}},
      hoverinfo: "text",
      error_y: {
        type: "data",
        symmetric: false,
        array: value.map((v, i) => (f.known(high[i]) ? high[i] - v : 0)),
        arrayminus: value.map((v, i) => (f.known(low[i]) ? v - low[i] : 0)),
        thickness: 1.2,
        width: 4,
        color: look.colour
      },
      text: own.map(
          (s) => `<b>${esc(f.short(name, 60))}</b><br>${
              f.quantityInterval(s.value, s.low, s.high, one.kind, one.unit)}<br>${
              f.withInterval(
                  s.relative, s.relative_low, s.relative_high, f.ratio)} of the first level<br>commit ${
              esc(model.commit(s.run))}${model.runs[s.run].dirty ? " with uncommitted changes" : ""}<br>${
              esc(f.short(model.runs[s.run].id, 60))}${
              model.runs[s.run].label ? "<br>label " + esc(f.short(model.runs[s.run].label, 60)) : ""}`),
    }];
    for (const segment of line.segments) {
      const level = relative ? segment.relative : segment.level;
      traces.push({
        type: "scatter",
        mode: "lines",
        x: own.slice(segment.first, segment.last + 1).map((s) => category(s.run)),
        y: own.slice(segment.first, segment.last + 1).map(() => level),
        line: {color: look.colour, width: 4},
        opacity: 0.4,
        hoverinfo: "skip"
      });
    }
    return {name, look, traces};
  });
  const cuts = new Map();
  for (const line of shown) {
    for (const cut of line.changes) {
      const {run} = line.points[cut.position];
      cuts.set(run, [...(cuts.get(run) || []), {...cut, provider: line.of.provider}]);
    }
  }
  const labelled = thinned(runs, narrow() ? 3 : 16);
  return chart({
    id: "history",
    title: relative ? "Relative to the level at the start" : "In " + (one.unit || "its unit"),
    series,
    note: shown.some((line) => line.points.length < 10) ?
        "A change point needs five runs on each side: shorter series have none." :
        "Runs in order; the commit is in the box that a marker shows.",
    labels: relative ? {} : {yaxis: (value) => f.tick(value, one.kind, one.unit)},
    layout: () => ({
      height: 460,
      xaxis: {
        type: "category",
        categoryorder: "array",
        categoryarray: runs.map(category),
        tickvals: labelled.map(category),
        ticktext: labelled.map((run) => model.runTick(run, runs) + "<br>" + model.commit(run)),
        tickangle: 0,
        title: "run, by time"
      },
      yaxis: relative ? {title: one.metric.replace(/_/g, " ") + " / first level"} :
                        {title: one.metric.replace(/_/g, " "), type: "log"},
      margin: {l: 64, r: 20, t: 34, b: 52},
      shapes: [...cuts.keys()].map((run) => ({
                                     type: "line",
                                     xref: "x",
                                     yref: "paper",
                                     x0: runs.indexOf(run) - 0.5,
                                     x1: runs.indexOf(run) - 0.5,
                                     y0: 0,
                                     y1: 1,
                                     line: {color: css("--faint"), dash: "dot", width: 1.5}
                                   })),
      annotations:
          [...cuts].map(([run, list]) => ({
                          x: runs.indexOf(run) - 0.5,
                          y: 1,
                          xref: "x",
                          yref: "paper",
                          yanchor: "bottom",
                          showarrow: false,
                          font: {size: 12},
                          text: esc(list.map((cut) => f.short(cut.provider, 16) + " " + f.change(cut.ratio))
                                        .slice(0, 2)
                                        .join(", ")) +
                              (list.length > 2 ? ", …" : "")
                        })),
    }),
  });
}

function changeTable(model, own) {
  const list = own.flatMap(
      (series) =>
          series.changes.map((cut) => ({...cut, s: series.of, run: series.points[cut.position].run})));
  return table({
    id: "changes",
    caption: "Change points",
    rows: list,
    emptyText: "No series of this case changed its level.",
    columns: [
      {
        title: "Run",
        value: (c) => c.run,
        cell: (c) =>
            h("span", {title: model.runTitle(c.run)}, model.runLabel(c.run) + " ", commit(model, c.run))
      },
      {
        title: "Point",
        value: (c) => model.points[c.s.point].label,
        cell: (c) =>
            h("a", {
              class: "clip",
              href: state.link(
                  "history", model.cases[c.s.case].name,
                  {point: model.points[c.s.point].id, place: c.s.place})
            },
              model.points[c.s.point].label)
      },
      {
        title: "Provider",
        value: (c) => c.s.provider,
        cell: (c) => h("span", {class: "clip", title: c.s.provider}, c.s.provider)
      },
      {title: "Machine", value: (c) => c.s.place, cell: (c) => c.s.place},
      {
        title: "Change",
        number: true,
        hint: "new level over old level",
        value: (c) => c.ratio,
        cell: (c) => f.change(c.ratio)
      },
      {title: "p", number: true, hint: "by permutation", value: (c) => c.p, cell: (c) => c.p.toPrecision(2)},
    ],
  });
}
