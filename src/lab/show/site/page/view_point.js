// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// Of one point: its attempts, their distribution, its memory.
import {h, empty} from "./dom.js";
import {chart, esc, lookOf} from "./charts.js";
import * as f from "./format.js";

export const axisTitle = (one) => one.metric.replace(/_/g, " ");

// Deviations from each provider's own median, or values: the first shows scatter, the second size.
function onScale(one, scale) {
  return {
    of: (s, value) => (scale === "relative" ? 100 * (value / s.median - 1) : value),
    axis: scale === "relative" ? {title: "from its own median / %", zeroline: true} :
                                 {title: axisTitle(one), type: "log"},
    labels: scale === "relative" ? {} : {yaxis: (value) => f.tick(value, one.kind, one.unit)},
  };
}

export function attempts(model, one, list, scale) {
  const {of, axis, labels} = onScale(one, scale);
  const series =
      list.filter((s) => s.rows.length)
          .map((s) => {
            const look = lookOf(s.provider, one.providers, one.baseline);
            const rows = s.rows.map((row) => ({
                                      row,
                                      value: model.rows.value(row, "metrics", one.metric),
                                      status: model.rows.value(row, "status"),
                                      order: model.rows.value(row, "order")
                                    }));
            const measured = rows.filter(
                ({value, status}) => f.known(value) && (status === "ok" || status === "wrong_result"));
            return {
              name: s.provider,
              look,
              traces: measured.length ? [{
                type: "scatter",
                mode: "lines+markers",
                x: measured.map((r) => r.order),
                y: measured.map((r) => of(s, r.value)),
                line: {color: look.colour, width: 1, dash: look.dash},
                marker: {
                  color: look.colour,
                  symbol: measured.map((r) => (r.status === "ok" ? look.symbol : "x-thin-open")),
                  size: 8
                },
                hoverinfo: "text",
                text: measured.map(
                    (r) => `<b>${esc(f.short(s.provider, 60))}</b><br>${
                        f.quantity(r.value, one.kind, one.unit)}<br>round ${
                        model.rows.value(
                            r.row, "round")}, attempt ${r.order} of the run<br>${esc(r.status)}, ${
                        esc(f.moment(model.rows.value(r.row, "provenance", "time_start")))} UTC`),
              }] :
                                        []
            };
          })
          .filter((one) => one.traces.length);
  if (!series.length)
    return h(
        "div", {}, h("h3", {}, "Attempts in time order"), empty("No attempt was measured at this point."));
  return chart({
    id: "attempts",
    title: "Attempts in time order",
    series,
    labels,
    note: "Each a fresh process; one line for each provider.",
    layout: () => ({xaxis: {title: "position in the run"}, yaxis: axis}),
  });
}

// Boxes from C++'s quartiles, every attempt as a dot, and the batches behind them as faint ones.
export function distribution(model, one, list, scale) {
  const shown = list.filter((s) => s.box && f.known(s.median));
  if (!shown.length)
    return h("div", {}, h("h3", {}, "Distribution"), empty("No attempt was measured at this point."));
  const {of, axis, labels} = onScale(one, scale);
  const series = shown.map((s, index) => {
    const look = lookOf(s.provider, one.providers, one.baseline);
    const values = s.rows.map((row) => model.rows.value(row, "metrics", one.metric)).filter(f.known);
    const batches = one.metric === "steady_time" ?
        s.rows.flatMap((row) => (model.rows.value(row, "samples", "steady_s") || []).filter(f.known)) :
        [];
    const [least, q1, middle, q3, most] = s.box.map((value) => of(s, value));
    return {
      name: s.provider,
      look,
      traces: [
        {
          type: "box",
          x: [index],
          q1: [q1],
          median: [middle],
          q3: [q3],
          lowerfence: [least],
          upperfence: [most],
          line: {color: look.colour, width: 1.5},
          fillcolor: "rgba(128,128,128,0.12)",
          width: 0.5,
          hoverinfo: "skip"
        },
        {
          type: "scatter",
          mode: "markers",
          x: batches.map((_, i) => index + 0.32 + 0.12 * ((i * 0.618) % 1)),
          y: batches.map((v) => of(s, v)),
          marker: {color: look.colour, size: 3, opacity: 0.35},
          hoverinfo: "skip"
        },
        {
          type: "scatter",
          mode: "markers",
          x: values.map((_, i) => index - 0.15 + 0.3 * ((i * 0.618) % 1)),
          y: values.map((v) => of(s, v)),
          marker: {color: look.colour, symbol: look.symbol, size: 6, opacity: 0.8},
          hoverinfo: "text",
          text: values.map(
              (v) =>
                  `<b>${esc(f.short(s.provider, 60))}</b><br>${f.quantity(v, one.kind, one.unit)}<br>median ${
                      f.quantityInterval(s.median, s.low, s.high, one.kind, one.unit)}${
                      s.modes ? "<br>bimodal, p = " + s.modes.p : ""}`)
        },
      ]
    };
  });
  return chart({
    id: "dist",
    title: "Distribution",
    series,
    labels,
    note: "Boxes are quartiles and extremes of the attempts; small dots are the batches inside them.",
    layout: () => ({
      xaxis: {
        tickvals: shown.map((_, i) => i),
        ticktext: shown.map((s) => esc(f.short(s.provider, 14))),
        showgrid: false,
        zeroline: false,
        title: "provider"
      },
      yaxis: axis
    }),
  });
}

export function memory(model, one, list) {
  const phases = [
    ["rss_start", "until inputs are ready", "#56b4e9"], ["rss_cold", "first call", "#0072b2"],
    ["rss_steady", "later calls", "#e69f00"], ["device", "device", "#009e73"]
  ];
  const shown = list.filter((s) => phases.some(([key]) => f.known(s[key])));
  if (!shown.length) return h("div", {}, h("h3", {}, "Peak memory"), empty("No row tells its memory."));
  const series =
      phases.filter(([key]) => shown.some((s) => f.known(s[key])))
          .map(([key, name, colour]) => ({
                 name,
                 look: {colour, symbol: "square"},
                 traces: [{
                   type: "bar",
                   x: shown.map((s) => esc(f.short(s.provider, 18))),
                   y: shown.map((s) => (f.known(s[key]) ? s[key] / 2 ** 20 : null)),
                   marker: {color: colour},
                   hoverinfo: "text",
                   text: shown.map(
                       (s) => `<b>${esc(f.short(s.provider, 60))}</b><br>${name}: ${f.bytes(s[key])}`),
                   textposition: "none",
                 }]
               }));
  return chart({
    id: "memory",
    title: "Peak memory by phase",
    series,
    note: "The kernel's own peak of the worker, counted anew for each phase; the largest over attempts.",
    layout: () => ({
      height: 300,
      barmode: "group",
      xaxis: {type: "category", title: "provider"},
      yaxis: {title: "peak memory / MiB", rangemode: "tozero"}
    })
  });
}
