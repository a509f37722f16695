// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// How small a difference each machine can show: its noise, and what comparing a thing with itself
// has shown there.
import {h, section, empty} from "./dom.js";
import {chart, esc, look} from "./charts.js";
import {table} from "./table.js";
import {machineTable} from "./view_overview.js";
import {text} from "./model.js";
import * as f from "./format.js";

const AA = "assay run semiring_matmul --quick --providers reference,reference@again --rounds 10";

export function calibrationPage(model) {
  const head = h("h1", {}, "Calibration");
  if (!model.machines.length)
    return [head, section("No rows yet", empty("Measure a provider under two names on this machine:", AA))];
  return [
    head,
    h("p", {class: "lead"},
      "What a machine makes of a comparison of a thing with itself: the size of difference that it invents, and how often the gate believes it."),
    section("A/A comparisons", calibrations(model)),
    section("Where the scatter comes from", budget(model), machineTable(model)),
    section("Machines", table({
              id: "machines",
              caption: "Facts of the machines",
              rows: facts(model),
              page: 40,
              columns: [
                {
                  title: "Fact",
                  value: (r) => r.name,
                  cell: (r) => r.name.replace(/_bytes$/, "").replace(/_/g, " ")
                },
                ...model.machines.map(
                    (m, i) => ({
                      title: m.name,
                      value: (r) => text(r.values[i]),
                      cell: (r) => h(
                          "span", {class: "breakable"},
                          f.short(r.name.endsWith("_bytes") ? f.bytes(r.values[i]) : text(r.values[i]), 120))
                    })),
              ]
            })),
  ];
}

function calibrations(model) {
  const known = model.calibrations;
  const missing = model.machines.filter((m) => m.noise.attempts && !known.some((c) => c.machine === m.index));
  const measured = known.filter((c) => c.comparisons);
  const recorded = known.filter((c) => c.recorded);
  const what = empty(
      known.length ?
          `Nothing is known of ${
              missing.map((m) => m.name).join(", ")}. Measure a provider under two names there:` :
          "No row compares a thing with itself, so gates call themselves uncalibrated. Measure a provider under two names:",
      AA);
  return [
    measured.length ? aaTable(model, measured) : null,
    measured.length ? aaChart(model, measured) : null,
    recorded.length ?
        [
          h("h3", {}, "Calibrations that rows carry"), table({
            id: "rec",
            caption: "Calibrations that rows carry",
            filter: false,
            rows: recorded,
            columns: [
              {title: "Machine", value: (c) => c.machine, cell: (c) => model.machines[c.machine].name},
              {
                title: "Measured",
                unit: "UTC",
                value: (c) => c.recorded.measured,
                cell: (c) => f.moment(c.recorded.measured)
              },
              {
                title: "Comparisons",
                number: true,
                value: (c) => c.recorded.comparisons,
                cell: (c) => f.plain(c.recorded.comparisons)
              },
              {
                title: "Floor",
                number: true,
                value: (c) => c.recorded.floor,
                cell: (c) => f.percent(c.recorded.floor, 2)
              },
            ]
          })
        ] :
        null,
    missing.length ? what : null,
  ].flat();
}

const rateOf = ({rate, low, high}) => f.withInterval(rate, low, high, (v) => f.percent(v, 1));

function aaTable(model, measured) {
  return [
    table({
      id: "aa",
      caption: "A/A comparisons by machine",
      filter: false,
      rows: measured,
      columns: [
        {
          title: "Machine",
          value: (c) => c.machine,
          cell: (c) => h("strong", {}, model.machines[c.machine].name)
        },
        {title: "Comparisons", number: true, value: (c) => c.comparisons, cell: (c) => c.comparisons},
        {
          title: "Floor",
          number: true,
          hint: "99 % of differences are smaller; with fewer than 100 comparisons, about the largest seen",
          value: (c) => c.floor,
          cell: (c) => f.percent(c.floor, 2)
        },
        {title: "Largest", number: true, value: (c) => c.largest, cell: (c) => f.percent(c.largest, 2)},
        {
          title: "Scatter of a round",
          number: true,
          hint: "robust standard deviation of ln of the ratio of a round, median over comparisons",
          value: (c) => c.sigma_d,
          cell: (c) => f.percent(c.sigma_d, 2)
        },
        {
          title: "False alarms",
          unit: "[95 %]",
          number: true,
          hint: "REGRESSED at a tolerance of 5 %, in either direction",
          value: (c) => c.false_alarms.rate,
          cell: (c) => rateOf(c.false_alarms)
        },
        {
          title: "Unresolved",
          unit: "[95 %]",
          number: true,
          value: (c) => c.unresolved.rate,
          cell: (c) => rateOf(c.unresolved)
        },
        {
          title: "Interval misses 1",
          unit: "[95 %]",
          number: true,
          hint: "nominal: at most 5 %",
          value: (c) => c.excludes_one.rate,
          cell: (c) => rateOf(c.excludes_one)
        },
      ]
    }),
    h("p", {class: "note"},
      `False alarms and unresolved: verdicts of the gate at a tolerance of ${
          f.percent(measured[0].tolerance)}, each comparison judged in both directions.`)
  ];
}

function aaChart(model, measured) {
  const series = measured.map((c, i) => {
    const style = look(i, false);
    const list = c.list;
    return {
      name: model.machines[c.machine].name,
      look: style,
      traces: [{
        type: "scatter",
        mode: "markers",
        x: list.map((_, k) => k + 1),
        y: list.map((e) => 100 * (e.ratio - 1)),
        marker: {color: style.colour, symbol: style.symbol, size: 7},
        error_y: {
          type: "data",
          symmetric: false,
          array: list.map((e) => (f.known(e.high) ? 100 * (e.high - e.ratio) : 0)),
          arrayminus: list.map((e) => (f.known(e.low) ? 100 * (e.ratio - e.low) : 0)),
          thickness: 1,
          width: 2,
          color: style.colour
        },
        hoverinfo: "text",
        text: list.map(
            (e) => `<b>${esc(f.short(e.other, 40))} over ${esc(f.short(e.provider, 40))}</b><br>${
                esc(f.short(model.cases[e.case].name, 60))}: ${
                esc(f.short(model.points[e.point].label, 80))}<br>ratio ${
                f.withInterval(e.ratio, e.low, e.high, f.ratio)}, ${e.rounds} rounds<br>commit ${
                esc(model.commit(e.run))}, ${esc(f.short(model.runs[e.run].id, 60))}`),
      }]
    };
  });
  return chart({
    id: "aachart",
    title: "A thing against itself",
    series,
    note:
        "Ratios of one provider under two names, with 95 % intervals, by time: what is not zero here is the machine's.",
    layout: () => ({
      height: 320,
      xaxis: {title: "comparison, by time"},
      yaxis: {title: "difference / %", zeroline: true}
    })
  });
}

function budget(model) {
  const parts = [
    ["within_process", "within a process", "#56b4e9"], ["between_processes", "between processes", "#0072b2"],
    ["between_runs", "between runs", "#e69f00"]
  ];
  const known = model.machines.filter((m) => parts.some(([key]) => f.known(m.noise[key])));
  if (!known.length)
    return empty("No attempt of these rows has several batches.", "assay run semiring_matmul --quick");
  return chart({
    id: "budget",
    title: "Scatter of ln(time)",
    note:
        "Standard deviations, median over the series of each machine; the part between runs holds real changes as well.",
    series:
        parts.map(([key, name, colour]) => ({
                    name,
                    look: {colour, symbol: "square"},
                    traces: [{
                      type: "bar",
                      x: known.map((m) => m.name),
                      y: known.map((m) => (f.known(m.noise[key]) ? 100 * m.noise[key] : null)),
                      marker: {color: colour},
                      hoverinfo: "text",
                      text: known.map((m) => `<b>${m.name}</b><br>${name}: ${f.percent(m.noise[key], 2)}`),
                      textposition: "none"
                    }]
                  })),
    layout: () => ({
      height: 300,
      barmode: "group",
      xaxis: {type: "category", title: "machine"},
      yaxis: {title: "standard deviation / %", rangemode: "tozero"}
    }),
  });
}

function facts(model) {
  const names = [...new Set(model.machines.flatMap((m) => m.facts.map(([name]) => name)))];
  return [
    {name: "fingerprint", values: model.machines.map((m) => m.fingerprint)},
    ...names.map(
        (name) => ({name, values: model.machines.map((m) => (m.facts.find(([n]) => n === name) || [])[1])}))
  ];
}
