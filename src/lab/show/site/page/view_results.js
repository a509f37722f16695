// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// Results as a table, of everything or of one case.
import {h, section} from "./dom.js";
import {asideNote, visible} from "./aside.js";
import {table} from "./table.js";
import {verdict} from "./cells.js";
import {link} from "./state.js";
import * as f from "./format.js";

export function caseLink(model, s, text) {
  const one = model.cases[s.case];
  return h(
      "a", {
        class: "clip",
        href: link("case", one.name, {place: s.place, point: model.points[s.point].id}),
        title: one.name + ": " + model.points[s.point].label
      },
      text || [one.name, h("small", {}, " " + model.points[s.point].label)]);
}

// Every newest result in one table.
export function results(model, state, redraw) {
  const wanted = state.parameters.get("class") || "";
  const all = model.latest.filter((s) => !wanted || s.class === wanted);
  return [
    h("h1", {}, "Results"),
    h("p", {class: "lead"}, "The newest word on every provider at every point and machine",
      wanted ?
          [
            ": ", h("strong", {}, wanted.replace(/_/g, " ")), ". ",
            h("a", {href: link("results")}, "Show all")
          ] :
          "."),
    section("All results", asideNote(all, redraw), resultTable(model, visible(all), "all"))
  ];
}

export function resultTable(model, list, id, withCase = true) {
  return table({
    id,
    caption: "Results",
    cards: true,
    rows: list,
    emptyText: "No results.",
    columns: [
      withCase && {
        title: "Case",
        card: "sub",
        value: (s) => model.cases[s.case].name,
        cell: (s) => caseLink(model, s, model.cases[s.case].name)
      },
      {
        title: "Point",
        card: "sub",
        value: (s) => model.points[s.point].label,
        cell: (s) => caseLink(model, s, model.points[s.point].label)
      },
      {
        title: "Provider",
        card: "head",
        value: (s) => s.provider,
        cell: (s) => h("span", {class: "clip", title: s.provider}, s.provider)
      },
      withCase && {title: "Machine", card: "sub", value: (s) => s.place, cell: (s) => s.place},
      {
        title: "Median",
        card: "line",
        unit: "[95 %]",
        number: true,
        hint: "over attempts, each a fresh process",
        value: (s) => s.median,
        cell: (s) =>
            f.quantityInterval(s.median, s.low, s.high, model.cases[s.case].kind, model.cases[s.case].unit)
      },
      {
        title: "Ratio",
        card: "line",
        unit: "[95 %]",
        number: true,
        hint: "provider over baseline, paired by round; below 1 is smaller",
        value: (s) => s.ratio,
        cell: (s) =>
            (s.baseline ? "1 (baseline)" : f.withInterval(s.ratio, s.ratio_low, s.ratio_high, f.ratio))
      },
      {title: "Verdict", card: "verdict", value: (s) => s.verdict, cell: (s) => verdict(s)},
      {
        title: "Of limit",
        number: true,
        hint: "share of this machine's measured ceiling",
        value: (s) => s.limit,
        cell: (s) => f.percent(s.limit)
      },
      {
        title: "Error/tol.",
        number: true,
        hint: "largest error of the output, as a share of the tolerance",
        value: (s) => s.error,
        cell: (s) => f.plain(s.error, 2)
      },
      {
        title: "Memory",
        number: true,
        hint: "peak of the worker process",
        value: (s) => s.memory,
        cell: (s) => f.bytes(s.memory)
      },
      {
        title: "Attempts",
        hint: "number of rounds, and the values in the order they were taken",
        value: (s) => s.rounds,
        cell: (s) => [s.rounds + " ", h("span", {class: "spark"}, s.spark)]
      },
    ].filter(Boolean),
  });
}
