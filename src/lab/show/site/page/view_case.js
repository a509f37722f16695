// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// One case: heat map, time against size, fraction of limit, and of one point its attempts,
// distribution, memory and rows.
import {h, section, empty, choice} from "./dom.js";
import {asideNote, visible} from "./aside.js";
import {chart, css, dark, esc, lookOf, narrow} from "./charts.js";
import {resultTable} from "./view_results.js";
import {rowTable, difference} from "./view_rows.js";
import {attempts, axisTitle, distribution, memory} from "./view_point.js";
import {chooseCase, choosePlace, chooseRun, choosePoint, chooseAxis, fixOthers, pick} from "./choose.js";
import {link, set} from "./state.js";
import * as f from "./format.js";

export function casePage(model, state, redraw) {
  if (!model.cases.length)
    return [
      h("h1", {}, "Cases"),
      section(
          "No rows yet",
          empty("No case has been measured:", "assay list", "assay run semiring_matmul --quick"))
    ];
  const one = model.case(state.name) || model.cases[0];
  const [place, placeChoice] = choosePlace(model, one, redraw);
  const [every, runChoice] = chooseRun(model, one, place, redraw);
  const list = visible(every);
  const points = one.points.filter((point) => list.some((s) => s.point === point.index));
  const measured = (p) => list.filter((s) => s.point === p.index && s.status === "ok").length;
  const [point, pointChoice] = choosePoint(points, redraw, measured);
  const [axis, axisChoice] = chooseAxis(one, points, redraw);
  const [line, fixed] = axis ? fixOthers(one, points, [axis], redraw) : [[], []];
  const at = point ? list.filter((s) => s.point === point.index) : [];
  const scale = pick("scale", ["relative", "absolute"]);
  const scaleChoice =
      choice("Scale", [["relative", "from each one's median"], ["absolute", "values"]], scale, (value) => {
        set({scale: value === "relative" ? "" : value});
        redraw();
      }, "scale");
  return [
    h("h1", {class: "breakable"}, one.name),
    h("p", {class: "lead"}, `Suite ${f.short(one.suite)}; baseline `,
      h("strong", {class: "breakable"}, f.short(baselines(one, list), 60)),
      `; primary metric ${one.metric}${one.unit && one.unit !== "1" ? " in " + one.unit : ""}${
          one.description ? " (" + one.description + ")" : ""}. `,
      h("a", {href: link("history", one.name, {place})}, "History"), " · ",
      h("a", {href: link("sweep", one.name, {place})}, "Sweep")),
    h("div", {class: "controls"}, chooseCase(model, "case", one), placeChoice, runChoice),
    section("Results", asideNote(every, redraw), resultTable(model, list, "r", false)),
    section("Ratio to the baseline", heatMap(model, one, list, points)),
    axis ? section(
               "Against size", h("div", {class: "controls"}, axisChoice, fixed),
               h("div", {class: "two"}, overAxis(model, one, list, line, axis, "time"),
                 overAxis(model, one, list, line, axis, "limit"))) :
           null,
    point ?
        section(
            "One point", h("div", {class: "controls"}, pointChoice, scaleChoice),
            h("div", {class: "two"}, attempts(model, one, at, scale), distribution(model, one, at, scale)),
            memory(model, one, at)) :
        null,
    section(
        "Rows and their provenance",
        rowTable(
            model,
            visible(one.summaries.filter((s) => s.place === place))
                .flatMap((s) => s.rows)
                .sort((a, b) => b - a),
            redraw),
        difference(model, redraw)),
  ];
}

// Whom the ratios shown refer to: as the rows say.
function baselines(one, list) {
  const names = [...new Set(list.filter((s) => s.baseline).map((s) => s.provider))];
  return names.join(", ") || one.baseline || "not known";
}

// A cell's colour and that of its text, for a value of z between -end and end.
function heat(z, end) {
  if (z === null) return ["transparent", css("--text")];
  const [low, middle, high] = dark() ? [[90, 180, 245], [32, 36, 43], [240, 160, 48]] :
                                       [[44, 127, 192], [246, 246, 244], [217, 115, 10]];
  const t = Math.min(1, Math.abs(z) / end), to = z < 0 ? low : high;
  const strong = Math.abs(z) > end * 0.55;
  return [
    `rgb(${middle.map((m, i) => Math.round(m + t * (to[i] - m))).join(",")})`,
    strong ? (dark() ? "#10151c" : "#ffffff") : css("--text")
  ];
}

// The same map for a narrow screen: a table that scrolls beneath its points.
function heatTable(providers, points, z, words, end) {
  return h(
      "div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Ratio to the baseline"},
      h("table", {class: "heat"},
        h("thead", {},
          h("tr", {}, h("th", {}, ""),
            providers.map((name) => h("th", {scope: "col", title: name}, f.short(name, 14))))),
        h("tbody", {},
          points.map(
              (point, i) =>
                  h("tr", {}, h("th", {scope: "row"}, f.short(point.label, 40)),
                    providers.map((_, j) => {
                      const [background, colour] = heat(z[i][j], end);
                      return h("td", {style: `background:${background};color:${colour}`}, words[i][j] || "–");
                    }))))));
}

// Colour by log2 of the ratio: blue is smaller than the baseline, orange larger, two colours that
// every reader tells apart.
function heatMap(model, one, list, points) {
  const providers =
      one.providers.filter((name) => name !== one.baseline && list.some((s) => s.provider === name));
  const cells = points.map(
      (point) => providers.map((name) => list.find((s) => s.point === point.index && s.provider === name)));
  if (!cells.flat().some((s) => s && f.known(s.ratio))) {
    return empty(
        "No ratios: they need a round in which both a provider and the baseline were measured.",
        `assay run ${f.short(one.name, 60)} --rounds 10`);
  }
  const z = cells.map((row) => row.map((s) => (s && f.known(s.ratio) ? Math.log2(s.ratio) : null)));
  const most = Math.max(0.15, ...z.flat().filter((v) => v !== null).map(Math.abs));
  const end = Math.min(most, 4);
  const words = cells.map(
      (row) => row.map(
          (s) =>
              (!s                   ? "" :
                   f.known(s.ratio) ? f.ratio(s.ratio) :
                                      esc(f.short(s.status.replace(/_/g, " "), 14)))));
  const hover = cells.map(
      (row, i) => row.map(
          (s, j) =>
              (s ? `<b>${esc(f.short(providers[j], 60))}</b><br>${
                       esc(f.short(points[i].label, 90))}<br>ratio ${
                       f.withInterval(s.ratio, s.ratio_low, s.ratio_high, f.ratio)}<br>${esc(s.verdict)}, ${
                       s.rounds} rounds` :
                   "not measured")));
  if (narrow()) {
    return [
      h("p", {class: "note"}, "Provider over baseline: blue is smaller, orange larger."),
      heatTable(providers, points, z, words, end)
    ];
  }
  const x = providers.map((_, i) => i), y = points.map((_, i) => i);
  const scale = dark() ? [[0, "#5ab4f5"], [0.5, "#20242b"], [1, "#f0a030"]] :
                         [[0, "#2c7fc0"], [0.5, "#f6f6f4"], [1, "#d9730a"]];
  // Text must be read on every cell: light on strong colours, dark on pale ones, or the reverse.
  const annotations =
      words.flatMap((row, i) => row.map((word, j) => ({
                                          x: j,
                                          y: i,
                                          text: word,
                                          showarrow: false,
                                          font: {
                                            size: providers.length > 6 ? 11 : 12,
                                            color: z[i][j] !== null && Math.abs(z[i][j]) > end * 0.55 ?
                                                (dark() ? "#10151c" : "#ffffff") :
                                                css("--text")
                                          }
                                        })));
  const ticks = [-4, -3, -2, -1, 0, 1, 2, 3, 4].filter((t) => Math.abs(t) <= end);
  const shown = ticks.length > 1 ? ticks : [-end, 0, end];
  return chart({
    id: "heat",
    title: "Point × provider",
    describe: "Heat map of the ratio to the baseline; the numbers are in the table above",
    legend: false,
    note: "Provider over baseline: blue is smaller, orange larger; colours end at a factor of " +
        f.ratio(2 ** end) + ".",
    series: [{
      name: "ratio",
      look: {},
      traces: [{
        type: "heatmap",
        x,
        y,
        z,
        zmin: -end,
        zmax: end,
        colorscale: scale,
        text: hover,
        hoverinfo: "text",
        xgap: 2,
        ygap: 2,
        colorbar: {
          thickness: 12,
          outlinewidth: 0,
          tickvals: shown,
          ticktext: shown.map((t) => f.ratio(2 ** t)),
          title: {text: "ratio", side: "right"}
        }
      }]
    }],
    layout: () => ({
      height: 110 + 30 * points.length,
      annotations,
      margin: {l: 64, r: 10, t: 28, b: 40},
      xaxis: {
        tickvals: x,
        ticktext: providers.map((name) => esc(f.short(name, 18))),
        side: "bottom",
        showgrid: false,
        ticks: "",
        zeroline: false,
        title: "provider"
      },
      yaxis: {
        tickvals: y,
        ticktext: points.map((point) => esc(f.short(point.label, 44))),
        autorange: "reversed",
        showgrid: false,
        ticks: "",
        zeroline: false
      },
    }),
  });
}

// One line for each provider over a parameter: the median, or the fraction of the limit.
function overAxis(model, one, list, points, axis, what) {
  const providers = one.providers.filter((name) => list.some((s) => s.provider === name));
  const series =
      providers
          .map((name) => {
            const own =
                points.map((point) => list.find((s) => s.point === point.index && s.provider === name))
                    .filter((s) => s && s.status === "ok" && f.known(what === "time" ? s.median : s.limit))
                    .sort(
                        (a, b) => order(
                            model.points[a.point].map.get(axis.name),
                            model.points[b.point].map.get(axis.name)));
            const look = lookOf(name, one.providers, one.baseline);
            const value = (s) => (what === "time" ? s.median : 100 * s.limit);
            return {
              name,
              look,
              traces: own.length ? [{
                type: "scatter",
                mode: "lines+markers",
                x: own.map((s) => model.points[s.point].map.get(axis.name)),
                y: own.map(value),
                line: {color: look.colour, dash: look.dash, width: 2},
                marker: {color: look.colour, symbol: look.symbol, size: 8},
                hoverinfo: "text",
                error_y: what === "time" ? {
                  type: "data",
                  symmetric: false,
                  array: own.map((s) => (f.known(s.high) ? s.high - s.median : 0)),
                  arrayminus: own.map((s) => (f.known(s.low) ? s.median - s.low : 0)),
                  thickness: 1.2,
                  width: 4
                } :
                                           undefined,
                text: own.map(
                    (s) => `<b>${esc(f.short(name, 60))}</b><br>${
                               esc(f.short(model.points[s.point].label, 90))}<br>` +
                        (what === "time" ? f.quantityInterval(s.median, s.low, s.high, one.kind, one.unit) :
                                           f.percent(s.limit, 1) + " of the limit")),
              }] :
                                   []
            };
          })
          .filter((one) => one.traces.length);
  if (!series.length) {
    return h(
        "div", {}, h("h3", {}, what === "time" ? "Time" : "Fraction of the limit"),
        what === "time" ?
            empty("Nothing was measured here.") :
            empty(
                "No row tells its fraction of the limit. Measure this machine's ceilings, then run again:",
                "assay doctor --peaks", `assay run ${f.short(one.name, 60)}`));
  }
  return chart({
    id: what,
    title: what === "time" ?
        (one.kind === "time" ? "Time against " : one.metric + " against ") + f.short(axis.name) :
        "Fraction of the limit against " + f.short(axis.name),
    series,
    labels: what === "time" ? {yaxis: (value) => f.tick(value, one.kind, one.unit)} : {},
    note: what === "time" ? "Medians over attempts with 95 % intervals, logarithmic." :
                            "Of the ceiling that this machine was measured to have.",
    layout: () => ({
      xaxis: axisOf(axis),
      yaxis: what === "time" ? {title: axisTitle(one), type: "log"} :
                               {title: "of limit / %", rangemode: "tozero"},
    }),
  });
}

// The axis of a parameter: logarithmic where all values are positive numbers, with the values
// themselves as ticks where they are few.
export function axisOf(axis) {
  const title = esc(f.short(axis.name));
  if (!axis.numeric) return {title, type: "category"};
  if (!axis.values.every((v) => v > 0)) return {title, type: "linear"};
  // Values that would lie on one another leave out the later of them.
  const whole = Math.log(axis.values[axis.values.length - 1] / axis.values[0]);
  const apart = [];
  for (const v of axis.values)
    if (!apart.length || Math.log(v / apart[apart.length - 1]) > whole / 12) apart.push(v);
  const ticks = apart.length <= 12 ? {tickvals: apart, ticktext: apart.map(String)} : {};
  return {title, type: "log", ...ticks};
}

const order = (a, b) =>
    (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));
