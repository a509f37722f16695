// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// Charts by plotly, in the page's colours, drawn when they come into view. Each has its own legend
// of buttons: plotly's cannot be reached from the keyboard.
import {h} from "./dom.js";
import * as state from "./state.js";

// Okabe and Ito, told apart by colour-blind readers; the yellow is darkened to be seen on white.
const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b5a100", "#8c6bb1"];
const SYMBOLS = ["circle", "square", "diamond", "triangle-up", "cross", "x", "star", "triangle-down"];
const DASHES = ["solid", "dash", "dot", "dashdot"];

// The look of the index-th of several series; the baseline is drawn in the colour of text. Each time the
// colours are used up the symbols move on by one: 64 pairs, no two alike, and with dashes 256 looks.
export function look(index, baseline) {
  const i = Math.max(0, index), n = COLOURS.length;
  const turn = Math.floor(i / n);
  return {
    colour: baseline ? css("--text") : COLOURS[i % n],
    symbol: SYMBOLS[baseline ? 0 : (i + turn) % SYMBOLS.length],
    dash: DASHES[baseline ? 0 : (turn + Math.floor(i / (n * SYMBOLS.length))) % DASHES.length],
  };
}

// Of many in a row, as many as have room for a label, at equal distances and with the last of them.
export function thinned(list, most) {
  const step = Math.ceil(list.length / Math.max(1, most));
  return list.filter((_, i) => (list.length - 1 - i) % step === 0);
}

export const narrow = () => window.innerWidth < 640;

export function lookOf(name, providers, baseline) {
  const others = providers.filter((provider) => provider !== baseline);
  return look(others.indexOf(name), name === baseline);
}

// From first to last, for things in an order (runs): a single hue, light to dark.
export function shade(position, count) {
  const from = dark() ? [60, 85, 120] : [178, 205, 228];
  const to = dark() ? [140, 215, 255] : [0, 58, 110];
  const t = count > 1 ? position / (count - 1) : 1;
  return `rgb(${from.map((a, i) => Math.round(a + t * (to[i] - a))).join(",")})`;
}

export const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
export const dark = () => css("--scheme") === "dark";

// Plotly reads a few tags and entities in every text; ours has none.
export const esc = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

// Ticks at round values whose labels carry the unit, for the range that is seen: 1, 2, 5 of each
// decade, or decades alone where there are many.
function ticksFor([from, to], type, label) {
  const values = [];
  if (type === "log") {
    const decades = to - from;
    const steps = decades > 3.2 ? [1] : decades > 1.4 ? [1, 3] : decades > 0.6 ? [1, 2, 5] : null;
    if (steps) {
      const skip = Math.ceil(decades / 7);
      for (let power = Math.floor(from); power <= Math.ceil(to); ++power) {
        if (decades > 3.2 && power % skip) continue;
        for (const step of steps) values.push(step * 10 ** power);
      }
      return {tickvals: values, ticktext: values.map(label)};
    }
    [from, to] = [10 ** from, 10 ** to];
  }
  const rough = (to - from) / 5, size = 10 ** Math.floor(Math.log10(rough));
  const step = size * [1, 2, 5, 10].find((s) => s * size >= rough);
  for (let i = Math.ceil(from / step); i * step <= to; ++i) values.push(Number((i * step).toPrecision(12)));
  return {tickvals: values, ticktext: values.map(label)};
}

// Keeps the ticks of axes that have a label function in step with what is seen.
function retick(place, labels) {
  const change = {};
  for (const [name, label] of Object.entries(labels)) {
    const axis = place._fullLayout[name];
    const ticks = ticksFor(axis.range.map(Number), axis.type, label);
    if (JSON.stringify(ticks.tickvals) === JSON.stringify(axis.tickvals)) continue;
    change[name + ".tickvals"] = ticks.tickvals;
    change[name + ".ticktext"] = ticks.ticktext;
  }
  return Object.keys(change).length ? Plotly.relayout(place, change) : Promise.resolve();
}

function base(layout) {
  const line = css("--line");
  const axis = {
    gridcolor: line,
    zerolinecolor: line,
    linecolor: css("--faint"),
    automargin: true,
    ticks: "outside",
    tickcolor: line,
    title: {standoff: 12}
  };
  const merged = {
    font: {family: css("--font"), size: 13, color: css("--text")},
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    margin: {l: 64, r: 20, t: 28, b: 52},
    height: 380,
    showlegend: false,
    hovermode: "closest",
    dragmode: "zoom",
    hoverlabel: {
      bgcolor: css("--card"),
      bordercolor: css("--faint"),
      font: {color: css("--text"), size: 13},
      align: "left",
      namelength: 0
    },
    modebar: {bgcolor: "rgba(0,0,0,0)", color: css("--faint"), activecolor: css("--accent")},
    ...layout,
  };
  for (const name of Object.keys(merged).filter((key) => /^[xy]axis/.test(key)))
    merged[name] = {...axis, ...merged[name], title: {...axis.title, ...titleOf(merged[name].title)}};
  for (const name of ["xaxis", "yaxis"]) merged[name] = merged[name] || axis;
  return merged;
}

const titleOf = (title) => (typeof title === "string" ? {text: title} : title || {});

const CONFIG = {
  responsive: true,
  displaylogo: false,
  displayModeBar: matchMedia("(hover: none)").matches ? true : "hover",
  showTips: false,
  modeBarButtonsToRemove: [
    "select2d", "lasso2d", "autoScale2d", "hoverClosestCartesian", "hoverCompareCartesian", "toggleSpikelines"
  ],
};

const pending = new Map();
const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    watcher.unobserve(entry.target);
    const drawing = pending.get(entry.target);
    pending.delete(entry.target);
    if (drawing) drawing();
  }
}, {rootMargin: "300px"});

// A figure. series: [{name, look, traces: [plotly traces]}]; legend false: no buttons.
// labels: {yaxis: value => text} for axes whose ticks carry a unit. describe says in words what the
// chart shows, for those who cannot see it.
export function chart({id, title, describe, series, layout, labels = {}, legend = series.length > 1, note}) {
  const place = h("div", {class: "chart", role: "img", "aria-label": describe || title, "data-chart": id});
  const hideKey = id + ".hide";
  const hidden = () => new Set(state.get(hideKey).split("~").filter(Boolean));
  const buttons = legend ? h("div", {class: "legend", role: "group", "aria-label": "Series of " + title},
                             series.map(
                                 (one) =>
                                     h("button", {
                                       type: "button",
                                       "aria-pressed": String(!hidden().has(one.name)),
                                       title: one.name,
                                       onclick: (event) => toggle(one.name, event.currentTarget)
                                     },
                                       swatch(one.look), h("span", {class: "name"}, one.name)))) :
                           null;

  function traces() {
    const off = hidden();
    return series.flatMap((one) => one.traces.map((trace) => ({...trace, visible: !off.has(one.name)})));
  }

  function toggle(name, button) {
    const off = hidden();
    if (off.has(name))
      off.delete(name);
    else
      off.add(name);
    button.setAttribute("aria-pressed", String(!off.has(name)));
    state.set({[hideKey]: [...off].join("~")});
    if (place.drawn) Plotly.react(place, traces(), base(layout()), CONFIG).then(() => retick(place, labels));
  }

  pending.set(place, () => {
    if (!place.isConnected) return;
    Plotly.newPlot(place, traces(), base(layout()), CONFIG).then(() => retick(place, labels)).then(() => {
      place.drawn = true;
      place.setAttribute("data-drawn", "");
      if (Object.keys(labels).length) place.on("plotly_relayout", () => retick(place, labels));
    });
  });
  watcher.observe(place);
  return h(
      "figure", {}, h("figcaption", {}, h("h3", {}, title), note ? h("p", {class: "note"}, note) : null),
      buttons, place);
}

// The line's dash behind the symbol, as the chart draws them.
function swatch({colour, symbol = "circle", dash}) {
  const ns = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(ns, "svg");
  svg.setAttribute("viewBox", dash && dash !== "solid" ? "-14 -8 28 16" : "-8 -8 16 16");
  svg.setAttribute("aria-hidden", "true");
  const shape = document.createElementNS(ns, "path");
  shape.setAttribute("d", SHAPES[symbol] || SHAPES.circle);
  shape.setAttribute("fill", colour);
  if (dash && dash !== "solid") {
    const line = document.createElementNS(ns, "path");
    line.setAttribute("d", "M-14 0H14");
    line.setAttribute("stroke", colour);
    line.setAttribute("stroke-width", "2");
    line.setAttribute("stroke-dasharray", {dash: "5 3", dot: "2 2", dashdot: "5 2 1 2"}[dash]);
    svg.append(line);
    svg.classList.add("wide");
  }
  svg.append(shape);
  return svg;
}

const SHAPES = {
  circle: "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0",
  square: "M-5-5h10v10h-10z",
  diamond: "M0-7L7 0L0 7L-7 0z",
  "triangle-up": "M0-6L6 5H-6z",
  cross: "M-2-6h4v4h4v4h-4v4h-4v-4h-4v-4h4z",
  x: "M-6-4L-4-6L0-2L4-6L6-4L2 0L6 4L4 6L0 2L-4 6L-6 4L-2 0z",
  star: "M0-7L2-2L7-2L3 1L5 6L0 3L-5 6L-3 1L-7-2L-2-2z",
  "triangle-down": "M0 6L6-5H-6z",
};

// Frees what a page's charts hold before it is replaced.
export function forget(element) {
  for (const place of element.querySelectorAll("[data-chart]")) {
    watcher.unobserve(place);
    pending.delete(place);
    if (place.drawn) Plotly.purge(place);
  }
}
