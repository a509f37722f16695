// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// A value over two parameters at once, the newest run of each point.
import {h, empty} from "./dom.js";
import {chart, css, esc, look} from "./charts.js";
import {valueAt} from "./choose.js";
import {axisOf} from "./view_case.js";
import {errorBars, hover} from "./view_sweep.js";
import * as f from "./format.js";

// A line for each value of the second parameter; a map; a surface.
export function planeCharts(model, one, own, points, axis, second, value) {
  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
  const at = (x, y) => points.find((p) => same(valueAt(p, axis), x) && same(valueAt(p, second), y));
  const newest = (point) => point &&
      own.filter((s) => s.point === point.index && f.known(value.get(s)[0])).sort((a, b) => b.run - a.run)[0];
  const xs = axis.values.filter((x) => points.some((p) => same(valueAt(p, axis), x)));
  const ys = second.values.filter((y) => points.some((p) => same(valueAt(p, second), y)));
  const cells = ys.map((y) => xs.map((x) => newest(at(x, y))));
  if (cells.flat().filter(Boolean).length < 4 || xs.length < 2 || ys.length < 2)
    return empty(
        "A surface needs at least two values of both parameters.",
        `assay run ${f.short(one.name, 60)} --points all`);
  const z = cells.map(
      (row) => row.map((s) => (s ? (value.log ? Math.log10(value.get(s)[0]) : value.get(s)[0]) : null)));
  const words = cells.map((row) => row.map((s) => (s ? hover(model, s, value) : "not measured")));
  const numbers = z.flat().filter((v) => v !== null);
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  const steps = [0, 0.25, 0.5, 0.75, 1].map((t) => least + t * (most - least));
  const label = (v) => (value.show || f.plain)(value.log ? 10 ** v : v);
  const bar = {thickness: 12, outlinewidth: 0, tickvals: steps, ticktext: steps.map(label)};
  const x = xs.map((_, i) => i), y = ys.map((_, i) => i);
  const ticks = (list, length = 24) =>
      ({tickvals: list.map((_, i) => i), ticktext: list.map((v) => esc(f.short(String(v), length)))});
  const titles = [esc(f.short(axis.name)), esc(f.short(second.name))];
  const flat = chart({
    id: "plane",
    title: "Map",
    note: "The newest run of each point: " + value.name + (value.log ? ", logarithmic colours." : "."),
    legend: false,
    series: [{
      name: "map",
      look: {},
      traces: [{
        type: "heatmap",
        x,
        y,
        z,
        text: words,
        hoverinfo: "text",
        colorscale: "Cividis",
        xgap: 2,
        ygap: 2,
        colorbar: bar
      }]
    }],
    layout: () => ({
      xaxis: {...ticks(xs), title: titles[0], showgrid: false, zeroline: false},
      yaxis: {...ticks(ys), title: titles[1], showgrid: false, zeroline: false},
      annotations: cells.flatMap(
          (row, i) => row.map(
              (s, j) => ({
                x: j,
                y: i,
                showarrow: false,
                text: s ? esc(label(z[i][j])) : "",
                font: {size: 12, color: s && (z[i][j] - least) / (most - least || 1) > 0.55 ? "#111" : "#fff"}
              })))
    }),
  });
  const dots = cells.flatMap((row, i) => row.map((s, j) => (s ? {i, j} : null))).filter(Boolean);
  const axis3 = (list, title) => ({
    ...ticks(list, 12),  // on a slant, beside other labels
    title: {text: title},
    gridcolor: css("--faint"),
    color: css("--text"),
    backgroundcolor: "rgba(0,0,0,0)"
  });
  const solid = webgl() ?
      chart(
          {
            id: "surface",
            title: "Surface",
            note: "The same values; drag to turn.",
            legend: false,
            series: [{
              name: "surface",
              look: {},
              traces: [
                {
                  type: "surface",
                  x,
                  y,
                  z,
                  text: words,
                  hoverinfo: "text",
                  colorscale: "Cividis",
                  showscale: false,
                  contours: {z: {show: true, color: css("--faint"), width: 1}}
                },
                // A sheet needs four neighbours; what was measured is shown whether or not it has them.
                {
                  type: "scatter3d",
                  mode: "markers",
                  x: dots.map((d) => d.j),
                  y: dots.map((d) => d.i),
                  z: dots.map((d) => z[d.i][d.j]),
                  text: dots.map((d) => words[d.i][d.j]),
                  hoverinfo: "text",
                  marker: {
                    size: 4,
                    color: dots.map((d) => z[d.i][d.j]),
                    colorscale: "Cividis",
                    line: {color: css("--text"), width: 1}
                  }
                }
              ]
            }],
            layout: () => ({
              margin: {l: 0, r: 0, t: 0, b: 0},
              scene: {
                xaxis: axis3(xs, titles[0]),
                yaxis: axis3(ys, titles[1]),
                zaxis: {
                  title: {text: value.log ? "" : value.title},
                  tickvals: steps,
                  ticktext: steps.map(label),
                  gridcolor: css("--faint"),
                  color: css("--text")
                },
                camera: {eye: {x: -1.75, y: -1.95, z: 1.0}, center: {x: 0, y: 0, z: -0.15}},
                aspectmode: "manual",
                aspectratio: {x: 1.2, y: 1.2, z: 0.8}
              }
            }),
          }) :
      h("div", {}, h("h3", {}, "Surface"),
        empty(
            "This browser draws no three-dimensional charts (WebGL is off); the map beside shows the same values."));
  return [lines(model, cells, xs, ys, axis, second, value), h("div", {class: "two"}, flat, solid)];
}

function lines(model, cells, xs, ys, axis, second, value) {
  const series = ys.map((y, i) => {
    const style = look(i, false), rows = cells[i].filter(Boolean);
    return {
      name: second.together ? String(y) : `${second.name} = ${y}`,
      look: style,
      traces: [{
        type: "scatter",
        mode: "lines+markers",
        x: xs.filter((_, j) => cells[i][j]),
        y: rows.map((s) => value.get(s)[0]),
        line: {color: style.colour, width: 2, dash: style.dash},
        marker: {color: style.colour, symbol: style.symbol, size: 7},
        error_y: errorBars(rows, value, style.colour),
        hoverinfo: "text",
        text: rows.map((s) => hover(model, s, value)),
      }]
    };
  });
  return chart({
    id: "lines",
    labels: value.label ? {yaxis: value.label} : {},
    title: "One line for each of the second parameter",
    series,
    note: "The newest run of each point.",
    layout: () => ({xaxis: axisOf(axis), yaxis: {title: value.title, type: value.log ? "log" : "linear"}}),
  });
}

function webgl() {
  try {
    return Boolean(document.createElement("canvas").getContext("webgl"));
  } catch {
    return false;
  }
}
