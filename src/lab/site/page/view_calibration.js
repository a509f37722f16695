// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// How small a difference each machine can show: its noise, and what comparing a thing with itself
// has shown there.
import {h, section, empty} from "./dom.js";
import {chart, css} from "./charts.js";
import {table} from "./table.js";
import {machineTable} from "./view_overview.js";
import {text} from "./model.js";
import * as f from "./format.js";

export function calibrationPage(model) {
  const head = h("h1", {}, "Calibration");
  if (!model.machines.length) return [head, section("No rows yet", empty("Compare a thing with itself on this machine:", "assay calibrate"))];
  return [head,
    h("p", {class: "lead"}, "What a machine makes of a comparison of a thing with itself: the size of difference that it invents, and how often the gate believes it."),
    section("A/A calibration", model.calibrations && model.calibrations.length ? calibrations(model)
      : empty("No calibration of these machines is known, so gates call themselves uncalibrated. Compare a thing with itself:", "assay calibrate")),
    section("Where the scatter comes from", budget(model), machineTable(model)),
    section("Machines", table({id: "machines", caption: "Facts of the machines", rows: facts(model), page: 40, columns: [
      {title: "Fact", value: (r) => r.name, cell: (r) => r.name.replace(/_bytes$/, "").replace(/_/g, " ")},
      ...model.machines.map((m, i) => ({title: m.name, value: (r) => text(r.values[i]), cell: (r) => h("span", {class: "breakable"}, f.short(r.name.endsWith("_bytes") ? f.bytes(r.values[i]) : text(r.values[i]), 120))})),
    ]})),
  ];
}

function calibrations(model) {
  return table({id: "aa", caption: "A/A calibration", filter: false, rows: model.calibrations, columns: [
    {title: "Machine", value: (c) => c.machine, cell: (c) => model.machines[c.machine].name},
    {title: "Comparisons", number: true, value: (c) => c.comparisons, cell: (c) => c.comparisons},
    {title: "Floor", number: true, hint: "99 % of A/A differences are smaller", value: (c) => c.floor, cell: (c) => f.percent(c.floor, 2)},
    {title: "Largest", number: true, value: (c) => c.largest, cell: (c) => f.percent(c.largest, 2)},
    {title: "False alarms", unit: "[95 %]", number: true, value: (c) => c.false_alarms.rate, cell: (c) => f.withInterval(c.false_alarms.rate, c.false_alarms.low, c.false_alarms.high, (v) => f.percent(v, 1))},
    {title: "Unresolved", unit: "[95 %]", number: true, value: (c) => c.unresolved.rate, cell: (c) => f.withInterval(c.unresolved.rate, c.unresolved.low, c.unresolved.high, (v) => f.percent(v, 1))},
  ]});
}

function budget(model) {
  const parts = [["within_process", "within a process", "#56b4e9"], ["between_processes", "between processes", "#0072b2"], ["between_runs", "between runs", "#e69f00"]];
  const known = model.machines.filter((m) => parts.some(([key]) => f.known(m.noise[key])));
  if (!known.length) return empty("No attempt of these rows has several batches.", "assay run semiring_matmul --quick");
  return chart({
    id: "budget", title: "Scatter of ln(time)", note: "Standard deviations, median over the series of each machine; the part between runs holds real changes as well.",
    series: parts.map(([key, name, colour]) => ({name, look: {colour, symbol: "square"}, traces: [{type: "bar", x: known.map((m) => m.name), y: known.map((m) => (f.known(m.noise[key]) ? 100 * m.noise[key] : null)), marker: {color: colour}, hoverinfo: "text",
      text: known.map((m) => `<b>${m.name}</b><br>${name}: ${f.percent(m.noise[key], 2)}`), textposition: "none"}]})),
    layout: () => ({height: 300, barmode: "group", xaxis: {type: "category", title: "machine"}, yaxis: {title: "standard deviation / %", rangemode: "tozero"}}),
  });
}

function facts(model) {
  const names = [...new Set(model.machines.flatMap((m) => m.facts.map(([name]) => name)))];
  return [{name: "fingerprint", values: model.machines.map((m) => m.fingerprint)},
    ...names.map((name) => ({name, values: model.machines.map((m) => (m.facts.find(([n]) => n === name) || [])[1])}))];
}
