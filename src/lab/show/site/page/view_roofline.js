// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// What a machine can do, and what the newest results reach of it.
import {h, section, empty, choice} from "./dom.js";
import {visible} from "./aside.js";
import {chart, css, esc, look, narrow} from "./charts.js";
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
  const usable = visible(model.latest).filter(
      (s) => s.status === "ok" && f.known(s.intensity) && f.known(s.flop_rate));
  // The one that has most to show: ceilings first, then results.
  const rank = (m) => (m.ceilings ? 1e9 : 0) + usable.filter((s) => s.machine === m.index).length;
  const best = [...model.machines].sort((a, b) => rank(b) - rank(a))[0];
  const machine = model.machines.find((m) => m.name === pick("machine", names, best.name));
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
  const results = usable.filter((s) => s.machine === machine.index);
  // Where a result was measured: on so many cores, or on a GPU whose ceilings are known.
  const device = machine.ceilings.groups.find((g) => g.device);
  const placeOf = (s) => device && s.platform === "cuda" ? "GPU" : String(s.cores);
  const cores = [...new Set(results.map(placeOf))].sort((a, b) => (b === "GPU") - (a === "GPU") || b - a);
  const by = pick("by", ["provider", "case"]);
  const byChoice = choice("Colours by", [["provider", "provider"], ["case", "case"]], by, (value) => {
    state.set({by: value === "provider" ? "" : value});
    redraw();
  }, "by");
  const chosen = pick("cores", cores.length ? cores : ["1"]);
  const processors = machine.ceilings.groups.filter((g) => !g.device);
  const group = (chosen === "GPU" ? device : processors.find((g) => String(g.cores) === chosen)) ||
      processors[processors.length - 1] || device;
  const shown = results.filter((s) => placeOf(s) === chosen);
  const coresChoice = cores.length > 1 ? choice("Cores", cores.map((c) => [c, c]), chosen, (value) => {
    state.set({cores: value});
    redraw();
  }, "cores") : null;
  return [
    head,
    h("p", {class: "lead"},
      group.device ?
          `${machine.name}; ceilings of ${group.device}, measured ${f.moment(machine.ceilings.measured)} UTC.` :
          `${machine.name}, ${f.short(machine.model, 60)}; ceilings of ${
              f.count(group.cores, "core")}, measured ${f.moment(machine.ceilings.measured)} UTC with ${
              machine.ceilings.instruction_set} loops at ${f.rate(group.clock_hz, "Hz")}.`),
    h("div", {class: "controls"}, machineChoice, coresChoice, byChoice),
    section(
        "Roofline",
        shown.length ?
            roofline(model, group, shown, by) :
            empty(
                "No ok row of this machine carries operations and bytes. Measure a case that has a cost model:",
                "assay run semiring_matmul --quick")),
    section("Ceilings", table({
              id: "ceil",
              caption: "Ceilings",
              filter: false,
              rows: [
                ...[...group.compute].sort(fastest).map(([n, r]) => ({n, r, unit: "op/s"})),
                ...[...group.memory].sort(fastest).map(([n, r]) => ({n, r, unit: "B/s"}))
              ],
              columns: [
                {title: "Ceiling", value: (c) => roofName(c.n, group), cell: (c) => roofName(c.n, group)},
                {title: "Name", value: (c) => c.n, cell: (c) => h("code", {}, c.n)},
                {title: "Rate", number: true, value: (c) => c.r, cell: (c) => f.rate(c.r, c.unit)},
              ]
            })),
  ];
}

const fastest = ([, a], [, b]) => b - a;

// What a ceiling is, in words. Reads are of so many bytes of each core, again and again; the largest of
// them no cache holds.
function roofName(name, group) {
  const size = Number(name.slice("read_".length));
  const largest = Math.max(...group.memory.map(([n]) => Number(n.slice("read_".length)) || 0));
  if (name === "triad") return "memory";
  if (name === "copy") return "memory, copied";
  if (name.startsWith("read_") && size)
    return size === largest && size >= 2 ** 25 ?
        "memory, reads alone" :
        f.bytes(size).replace(/\.0+ /, " ") + (group.device ? ", cached" : " a core, cached");
  const [, operation, dtype] = name.match(/^(.*)_((?:b|t)?f\d+)$/) || ["", name, ""];
  const words = {
    fma: "multiply-add",
    add: "add",
    add_max: "add and max",
    add_max3: "add and max of three",
    gemm: "matrix product",
    sub_fma: "subtract, multiply-add",
    exp: "exponential"
  };
  return (words[operation] || operation.replace(/_/g, " ")) + (dtype ? " " + dtype : "");
}

// The most that the machine's roofs allow at an intensity.
const roofAt = (group, top, intensity) =>
    Math.min(top, ...(group.memory.length ? [intensity * Math.max(...group.memory.map(([, rate]) => rate))] : []));

// Labels along lines, each where it touches no other: of some places on its line the first that is free.
// Pixels are those of a chart of this size; a few more or less change nothing.
function labelled(lines, [x0, x1], [y0, y1], width, height) {
  const taken = [];
  return lines.map((line) => {
    const size = [6.4 * line.name.length + 8, 17];
    const at = (t) => line.x.map(Math.log10).reduce((a, b) => a + t * (b - a));
    const up = (t) => line.y.map(Math.log10).reduce((a, b) => a + t * (b - a));
    for (const t of line.level ? [1, 0.75, 0.5, 0.25] : [0.02, 0.2, 0.38, 0.56, 0.74, 0.9]) {
      const left = (at(t) - x0) / (x1 - x0) * width - (line.level ? size[0] : 0);
      const bottom = (up(t) - y0) / (y1 - y0) * height - size[1] / 2;
      const box = [left, bottom, left + size[0], bottom + size[1]];
      if (box[0] < 0 || box[2] > width || box[1] < 0 || box[3] > height) continue;
      if (taken.some((o) => box[0] < o[2] && o[0] < box[2] && box[1] < o[3] && o[1] < box[3])) continue;
      taken.push(box);
      return {
        x: at(t),
        y: up(t),
        text: esc(line.name),
        showarrow: false,
        xanchor: line.level ? "right" : "left",
        yanchor: "middle",
        bgcolor: css("--card"),
        borderpad: 1,
        font: {size: 11, color: css("--faint")}
      };
    }
    return null;  // it has its line's box
  }).filter(Boolean);
}

function roofline(model, group, shown, by) {
  const xs = shown.map((s) => s.intensity), ys = shown.map((s) => s.flop_rate);
  const top = Math.max(...group.compute.map(([, rate]) => rate), 0);
  const slopes = [...group.memory].sort(fastest);
  const knees = slopes.map(([, rate]) => top / rate);
  const from = Math.min(...xs, ...knees) / 3, to = Math.max(...xs, ...knees) * 3;
  const low = Math.min(...ys, ...group.compute.map(([, rate]) => rate)) / 2, high = Math.max(...ys, top) * 2.2;
  const grey = css("--faint");
  // Ceilings of the same rate are one line.
  const levels = [...new Map(group.compute.map(([, rate]) => [
    rate,
    group.compute.filter(([, r]) => r === rate).map(([n]) => roofName(n, group)).join("; ")
  ]))].map(([rate, name]) => [name, rate]).sort(fastest);
  const lines = [
    ...slopes.map(([name, rate], i) => {
      const start = Math.max(from, low / rate);
      return {
        name: roofName(name, group),
        outer: i === 0 || name === "triad",
        x: [start, Math.min(to, top / rate)],
        y: [start * rate, Math.min(to, top / rate) * rate],
        text: `${esc(roofName(name, group))}: ${f.rate(rate, "B/s")}`
      };
    }),
    ...levels.map(([name, rate]) => ({
                    name,
                    level: true,
                    outer: rate === top,
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
                        line: {color: grey, width: line.name === "memory" || line.y[0] === top ? 2.5 : 1},
                        hoverinfo: "text",
                        text: [line.text, line.text]
                      }))
  };
  const above = (s) => s.flop_rate > 1.02 * roofAt(group, top, s.intensity);
  const key = by === "case" ? (s) => model.cases[s.case].name : (s) => s.provider;
  const names = [...new Set(shown.map(key))].sort();
  const series = names.map((name, i) => {
    const own = shown.filter((s) => key(s) === name);
    const style = look(i, false);
    return {
      name,
      look: {...style, dash: "solid"},
      traces: [{
        type: "scatter",
        mode: "markers",
        x: own.map((s) => s.intensity),
        y: own.map((s) => s.flop_rate),
        marker: {
          color: style.colour,
          symbol: style.symbol,
          size: 9,
          opacity: 0.85,
          line: {color: css("--bad"), width: own.map((s) => (above(s) ? 2 : 0))}
        },
        hoverinfo: "text",
        text: own.map(
            (s) =>
                `<b>${esc(f.short(s.provider, 60))}</b><br>${esc(f.short(model.cases[s.case].name, 60))}: ${
                    esc(f.short(model.points[s.point].label, 80))}<br>${f.rate(s.flop_rate, "op/s")} at ${
                    f.plain(s.intensity)} op/B<br>${f.percent(s.limit, 1)} of its limit${
                    above(s) ? "<br><b>above the roof</b>" : ""}`)
      }]
    };
  });
  const high_ = shown.filter(above);
  const who = [...new Set(high_.map((s) => s.provider))].slice(0, 6).join(", ");
  return [
    high_.length ?
        h("p", {class: "note"}, h("strong", {class: "bad"}, f.count(high_.length, "dot") + " above the roof"),
          ` (ringed: ${f.short(who, 100)}): done with fewer operations than the case counts, or the ceilings are out of date; `,
          h("code", {}, "assay doctor --peaks"), " measures them again.") :
        null,
    chart({
      id: "roof",
      title: "Rate against intensity",
      series: [ceilings, ...series],
      labels: {xaxis: (v) => f.plain(v), yaxis: (v) => f.tick(v, "rate", "op/s")},
      note:
          "Operations and bytes are the case's own count, not the hardware's; medians over the newest run's attempts. Slanted: bytes per second; level: floating-point operations per second, two to a multiply-add.",
      layout: () => {
        const [x, y] = [[from, to].map(Math.log10), [low, high].map(Math.log10)];
        return {
          height: 520,
          xaxis: {type: "log", title: "intensity / (operation/byte)", range: x},
          yaxis: {type: "log", title: "rate", range: y},
          // A phone has room for the outermost roofs' names; the others say theirs when touched.
          annotations: labelled(narrow() ? lines.filter((line) => line.outer) : lines, x, y, Math.min(1200, window.innerWidth) - 170, 430)
        };
      },
    })
  ];
}
