// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// Choices that several pages share: a case, where it was measured, a run, a point, an axis.
import {choice} from "./dom.js";
import * as state from "./state.js";
import * as f from "./format.js";

export function chooseCase(model, view, one) {
  return choice(
      "Case", model.cases.map((c) => [c.name, f.short(c.suite + " / " + c.name, 48)]), one.name, (name) => {
        location.hash = state.link(view, name);
      }, "case");
}

// The value under `key` in the fragment where it is one of the options, else the first.
export function pick(key, options, otherwise) {
  const wanted = state.get(key);
  return options.includes(wanted) ? wanted : otherwise !== undefined ? otherwise : options[0];
}

export function choosePlace(model, one, redraw) {
  const place = pick("place", one.places);
  return [
    place,
    one.places.length > 1 ? choice(
                                "Machine", one.places.map((p) => [p, p]), place,
                                (value) => {
                                  state.set({place: value});
                                  redraw();
                                },
                                "place") :
                            null
  ];
}

export function chooseRun(model, one, place, redraw) {
  const runs =
      [...new Set(one.summaries.filter((s) => s.place === place).map((s) => s.run))].sort((a, b) => b - a);
  const ids = ["latest", ...runs.map((run) => model.runs[run].id)];
  const run = pick("run", ids);
  const control = choice(
      "Run",
      [
        ["latest", "newest of each"],
        ...runs.map((i) => [model.runs[i].id, model.runLabel(i) + "  " + model.commit(i)])
      ],
      run, (value) => {
        state.set({run: value === "latest" ? "" : value});
        redraw();
      }, "run");
  const list = one.summaries.filter(
      (s) => s.place === place && (run === "latest" ? s.latest : model.runs[s.run].id === run));
  return [list, control];
}

// `weight` says how much there is to see at a point: where nobody has chosen, the most.
export function choosePoint(points, redraw, weight = () => 0) {
  const ids = points.map((p) => p.id);
  const best = points.reduce((most, p) => (most && weight(most) >= weight(p) ? most : p), undefined);
  const id = pick("point", ids, best && best.id);
  const point = points.find((p) => p.id === id);
  return [
    point,
    choice(
        "Point", points.map((p) => [p.id, f.short(p.label, 60)]), id,
        (value) => {
          state.set({point: value});
          redraw();
        },
        "point")
  ];
}

// What a point has of a parameter, or of several together.
export const valueAt = (point, parameter) =>
    parameter.together ? parameter.of(point) : point.map.get(parameter.name);

const usableAxes = (one, points, not) => one.varying.filter(
    (p) => p !== not && p.name !== "seed" &&
        new Set(points.map((point) => JSON.stringify(point.map.get(p.name)))).size > 1);

function axisOfUsable(usable, redraw, key, otherwise) {
  if (!usable.length) return [null, null];
  const name = pick(key, usable.map((p) => p.name), otherwise);
  return [
    usable.find((p) => p.name === name),
    choice(
        key === "y" ? "Second parameter" : "Parameter", usable.map((p) => [p.name, f.short(p.name)]), name,
        (value) => {
          state.set({[key]: value});
          redraw();
        },
        key)
  ];
}

// A parameter for the x axis, and values for the others that vary: what is left is one line each.
export const chooseAxis = (one, points, redraw) => axisOfUsable(usableAxes(one, points), redraw, "x");

// One more, beside `axis`: a parameter, or all others together, as one setting. That is what is shown first
// where they only vary together, a model with its prompt, so that one alone has nothing to vary.
export function chooseSecond(one, points, redraw, axis) {
  const usable = usableAxes(one, points, axis);
  if (usable.length < 2) return axisOfUsable(usable, redraw, "y");
  const of = (point) => usable.map((p) => point.map.get(p.name))
                            .map((value, i) => typeof value === "string" ? value : value === undefined ? "" : `${usable[i].name} ${value}`)
                            .filter(Boolean)
                            .reverse()
                            .join(", ");
  const together = {name: "all others", together: usable, of, values: [...new Set(points.map(of))].sort()};
  const varies = (parameter) => {
    const [left] = fixOthers(one, points, [axis, parameter], redraw);
    return new Set(left.map((point) => JSON.stringify(point.map.get(parameter.name)))).size > 1;
  };
  const otherwise = varies(usable[0]) ? usable[0].name : together.name;
  return axisOfUsable([...usable, together], redraw, "y", otherwise);
}

export function fixOthers(one, points, free, redraw) {
  let left = points;
  const controls = [];
  const code = (value) => JSON.stringify(value) ?? "–";  // a point may lack it
  for (const parameter of one.varying.filter((p) => !free.includes(p))) {
    const having = (value) => left.filter((point) => code(point.map.get(parameter.name)) === code(value));
    const options = parameter.values.filter((v) => having(v).length);
    if (!options.length) continue;
    const most = options.reduce((best, v) => (having(v).length > having(best).length ? v : best));  // to draw
    const key = "fix." + parameter.name;
    const value = pick(key, options.map(code), code(most));
    left = left.filter((point) => code(point.map.get(parameter.name)) === value);
    controls.push(choice(
        f.short(parameter.name), options.map((v) => [code(v), f.short(v === undefined ? "–" : String(v))]),
        value, (chosen) => {
          state.set({[key]: chosen});
          redraw();
        }, "fix-" + one.varying.indexOf(parameter)));
  }
  return [left, controls];
}
