// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// What a machine can do, and what the newest results reach of it.
import {h, section, empty, choice} from "./dom.js";
import {chart, css, esc, look} from "./charts.js";
import {table} from "./table.js";
import {pick} from "./choose.js";
import * as state from "./state.js";
import * as f from "./format.js";

export function rooflinePage(model, _, redraw) {
  const head = h("h1", {}, "Roofline");
  if (!model.machines.length)
    return [
      head,
      section(
          "No rows yet",
          empty(
              "Measure this machine's ceilings, then a case:", "assay doctor --peaks",
              "assay run semiring_matmul --quick"))
    ];
  const names = model.machines.map((m) => m.name);
  const withCeilings = model.machines.filter((m) => m.ceilings);
  const machine = model.machines.find(
      (m) => m.name === pick("machine", names, (withCeilings[0] || model.machines[0]).name));
  const machineChoice = names.length > 1 ?
      choice(
          "Machine", model.machines.map((m) => [m.name, m.name + "  " + f.short(m.model, 40)]), machine.name,
          (value) => {
            state.set({machine: value});
            redraw();
          },
          "machine") :
      null;
  if (!machine.ceilings) {
    return [
      head, h("div", {class: "controls"}, machineChoice),
      section(
          "No ceilings",
          empty(
              `The ceilings of ${machine.name} (${
                  machine
                      .fingerprint}) are not known here. On that machine, measure them, then make this page there:`,
              "assay doctor --peaks", "assay site --out site.html"))
    ];
  }
  const results = model.latest.filter(
      (s) =>
          s.machine === machine.index && s.status === "ok" && f.known(s.intensity) && f.known(s.flop_rate));
  const cores = [...new Set(results.map((s) => String(s.cores)))].sort();
  const chosen = pick("cores", cores.length ? cores : ["1"]);
  const group = machine.ceilings.groups.find((g) => String(g.cores) === chosen) ||
      machine.ceilings.groups[machine.ceilings.groups.length - 1];
  const shown = results.filter((s) => String(s.cores) === chosen);
  const coresChoice = cores.length > 1 ? choice("Cores", cores.map((c) => [c, c]), chosen, (value) => {
    state.set({cores: value});
    redraw();
  }, "cores") : null;
  return [
    head,
    h("p", {class: "lead"},
      `${machine.name}, ${f.short(machine.model, 60)}; ceilings of ${
          f.count(group.cores, "core")}, measured ${f.moment(machine.ceilings.measured)} UTC with ${
          machine.ceilings.instruction_set} loops at ${f.rate(group.clock_hz, "Hz")}.`),
    h("div", {class: "controls"}, machineChoice, coresChoice),
    section(
        "Roofline",
        shown.length ?
            roofline(model, group, shown) :
            empty(
                "No ok row of this machine carries operations and bytes. Measure a case that has a cost model:",
                "assay run semiring_matmul --quick")),
    section("Ceilings", table({
              id: "ceil",
              caption: "Ceilings",
              filter: false,
              rows: [
                ...group.compute.map(([n, r]) => ({n, r, unit: "op/s"})),
                ...group.memory.map(([n, r]) => ({n, r, unit: "B/s"}))
              ],
              columns: [
                {title: "Ceiling", value: (c) => c.n, cell: (c) => h("code", {}, c.n)},
                {title: "Rate", number: true, value: (c) => c.r, cell: (c) => f.rate(c.r, c.unit)},
              ]
            })),
  ];
}

function roofline(model, group, shown) {
  const xs = shown.map((s) => s.intensity);
  const top = Math.max(...group.compute.map(([, rate]) => rate), 0);
  const slopes =
      group.memory.filter(([name]) => name === "triad" || group.memory.length < 4).length ? group.memory : [];
  const knees = slopes.map(([, rate]) => top / rate);
  const from = Math.min(...xs, ...knees) / 3, to = Math.max(...xs, ...knees) * 3;
  const grey = css("--faint");
  // Ceilings of the same rate are one line.
  const levels = [
    ...new Map(group.compute.map(
        ([name, rate]) => [rate, group.compute.filter(([, r]) => r === rate).map(([n]) => n).join(", ")]))
  ].map(([rate, name]) => [name, rate]);
  const lines = [
    ...slopes.map(([name, rate]) => ({
                    name,
                    x: [from, Math.min(to, top / rate)],
                    y: [from * rate, Math.min(to, top / rate) * rate],
                    text: `${esc(name)}: ${f.rate(rate, "B/s")}`
                  })),
    ...levels.map(([name, rate]) => ({
                    name,
                    x: [slopes.length ? Math.min(...slopes.map(([, s]) => rate / s)) : from, to],
                    y: [rate, rate],
                    text: `${esc(name)}: ${f.rate(rate, "op/s")}`
                  })),
  ];
  const ceilings = {
    name: "ceilings",
    look: {colour: grey, symbol: "square"},
    traces: lines.map((line) => ({
                        type: "scatter",
                        mode: "lines",
                        x: line.x,
                        y: line.y,
                        line: {color: grey, width: 1.5},
                        hoverinfo: "text",
                        text: [line.text, line.text]
                      }))
  };
  const cases = [...new Set(shown.map((s) => s.case))];
  const series = cases.map((index, i) => {
    const own = shown.filter((s) => s.case === index);
    const style = look(i, false);
    return {
      name: model.cases[index].name,
      look: style,
      traces: [{
        type: "scatter",
        mode: "markers",
        x: own.map((s) => s.intensity),
        y: own.map((s) => s.flop_rate),
        marker: {color: style.colour, symbol: style.symbol, size: 9, opacity: 0.85},
        hoverinfo: "text",
        text: own.map(
            (s) =>
                `<b>${esc(f.short(s.provider, 60))}</b><br>${esc(f.short(model.cases[s.case].name, 60))}: ${
                    esc(f.short(model.points[s.point].label, 80))}<br>${f.rate(s.flop_rate, "op/s")} at ${
                    f.plain(s.intensity)} op/B<br>${f.percent(s.limit, 1)} of its limit`)
      }]
    };
  });
  return chart({
    id: "roof",
    title: "Rate against intensity",
    series: [ceilings, ...series],
    labels: {xaxis: (v) => f.plain(v), yaxis: (v) => f.tick(v, "rate", "op/s")},
    note:
        "Operations and bytes are the case's own count, not the hardware's; medians over the newest run's attempts. Slanted: bytes per second; level: operations per second.",
    layout: () => ({
      height: 520,
      xaxis: {type: "log", title: "intensity / (operation/byte)", range: [Math.log10(from), Math.log10(to)]},
      yaxis: {type: "log", title: "rate"},
      annotations: lines.map((line) => ({
                               x: Math.log10(line.x[line.y[0] === line.y[1] ? 1 : 0]),
                               y: Math.log10(line.y[line.y[0] === line.y[1] ? 1 : 0]),
                               text: esc(line.name),
                               showarrow: false,
                               xanchor: line.y[0] === line.y[1] ? "right" : "left",
                               yanchor: "bottom",
                               font: {size: 11, color: grey}
                             }))
    }),
  });
}
