// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// Rows as they are, and the difference between any two: where they came from, what they ran on.
import {h, section, empty} from "./dom.js";
import {table} from "./table.js";
import {text} from "./model.js";
import * as state from "./state.js";
import * as f from "./format.js";

const idOf = (model, row) => model.rows.value(row, "run_id") + "/" + model.rows.value(row, "attempt_id");

export function rowsPage(model, _, redraw) {
  if (!model.rows.count)
    return [
      h("h1", {}, "Rows"),
      section("No rows yet", empty("Measure something first:", "assay run semiring_matmul --quick"))
    ];
  const all = Array.from({length: model.rows.count}, (_, i) => model.rows.count - 1 - i);
  return [
    h("h1", {}, "Rows"),
    h("p", {class: "lead"},
      "Every attempt, newest first. Mark two rows as A and B to see how their provenance differs."),
    section("Difference", difference(model, redraw)), section("All rows", rowTable(model, all, redraw))
  ];
}

export function rowTable(model, rows, redraw) {
  const r = model.rows;
  // A row is an object, so that a table may mark it.
  const marks = {a: state.get("a"), b: state.get("b")};
  const list = rows.map(
      (row) => ({
        row,
        rowClass: marks.a && idOf(model, row) === marks.a || marks.b && idOf(model, row) === marks.b ?
            "marked" :
            row >= (model.seen ?? Infinity) ? "fresh" :
                                              ""
      }));
  const metric = (row) =>
      model.cases.find((one) => one.name === r.value(row, "case") && one.suite === r.value(row, "suite"));
  const byName = new Map(model.cases.map((one) => [one.suite + "\u001f" + one.name, one]));
  const caseOf = (row) => byName.get(r.value(row, "suite") + "\u001f" + r.value(row, "case")) || metric(row);
  const points = new Map();
  for (const s of model.summaries)
    for (const row of s.rows) points.set(row, model.points[s.point]);
  const mark = (which, row) =>
      h("button", {
        type: "button",
        class: "mini",
        "aria-pressed": String(state.get(which) === idOf(model, row)),
        "aria-label": `Mark as ${which.toUpperCase()}`,
        onclick: () => {
          state.set({[which]: state.get(which) === idOf(model, row) ? "" : idOf(model, row)});
          redraw();
        }
      },
        which.toUpperCase());
  return table({
    id: "rows",
    caption: "Rows",
    rows: list,
    page: 15,
    columns: [
      {title: "A/B", value: ({row}) => row, cell: ({row}) => [mark("a", row), mark("b", row)]},
      {
        title: "Time",
        unit: "UTC",
        value: ({row}) => r.value(row, "provenance", "time_start"),
        cell: ({row}) => {
          const t = r.value(row, "provenance", "time_start");
          return h(
              "span", {title: r.value(row, "run_id")}, t ? String(t).slice(0, 19).replace("T", " ") : "–");
        }
      },
      {
        title: "Case",
        value: ({row}) => r.value(row, "case"),
        cell: ({row}) => h(
            "a", {class: "clip", href: state.link("case", r.value(row, "case")), title: r.value(row, "case")},
            f.short(r.value(row, "case"), 60))
      },
      {
        title: "Point",
        value: ({row}) => points.get(row)?.label,
        cell: ({row}) => h("span", {class: "clip", title: points.get(row)?.label}, points.get(row)?.label)
      },
      {
        title: "Provider",
        value: ({row}) => r.value(row, "provider"),
        cell: ({row}) =>
            h("span", {class: "clip", title: r.value(row, "provider")}, f.short(r.value(row, "provider"), 60))
      },
      {
        title: "Round",
        number: true,
        value: ({row}) => r.value(row, "round"),
        cell: ({row}) => r.value(row, "round") + (r.value(row, "try") ? " try " + r.value(row, "try") : "")
      },
      {
        title: "Status",
        value: ({row}) => r.value(row, "status"),
        cell: ({row}) =>
            h("span", {
              class: "clip " +
                  (["ok", "skipped", "env_missing", "excluded", "interrupted"].includes(
                       r.value(row, "status")) ?
                       "" :
                       "bad"),
              title: text(r.value(row, "failure", "message") ?? "")
            },
              r.value(row, "status") +
                  (r.value(row, "failure", "code") ? ": " + f.short(r.value(row, "failure", "code"), 40) :
                                                     ""))
      },
      {
        title: "Value",
        number: true,
        value: ({row}) => r.value(row, "metrics", caseOf(row).metric),
        cell: ({row}) => {
          const one = caseOf(row);
          return f.quantity(r.value(row, "metrics", one.metric), one.kind, one.unit);
        }
      },
      {
        title: "Machine",
        value: ({row}) => r.value(row, "machine", "fingerprint"),
        cell: ({row}) =>
            model.machines.find((m) => m.fingerprint === r.value(row, "machine", "fingerprint"))?.name || "–"
      },
    ],
  });
}

// What differs between the two marked rows; all of it on request.
export function difference(model, redraw) {
  const find = (id) => {
    if (!id) return -1;
    for (let row = 0; row < model.rows.count; ++row)
      if (idOf(model, row) === id) return row;
    return -1;
  };
  const [a, b] = [find(state.get("a")), find(state.get("b"))];
  if (a < 0 || b < 0) {
    return h(
        "p", {class: "note", id: "difference"},
        a < 0 && b < 0 ?
            "Provenance: mark one row as A and one as B in the table." :
            `Provenance: row ${a < 0 ? "B" : "A"} is marked; mark another as ${a < 0 ? "A" : "B"}.`);
  }
  const whole = state.get("diff") === "all";
  const list = model.rows.paths
                   .map((path) => ({path, a: model.rows.value(a, ...path), b: model.rows.value(b, ...path)}))
                   .filter((entry) => entry.a !== undefined || entry.b !== undefined)
                   .filter((entry) => !["samples", "attempt_id"].includes(entry.path[0]))
                   .filter((entry) => whole || JSON.stringify(entry.a) !== JSON.stringify(entry.b));
  const name = (row) => `${f.short(model.rows.value(row, "provider"), 30)}, round ${
      model.rows.value(row, "round")}, run ${f.short(model.rows.value(row, "run_id"), 32)}`;
  const value = (v) => h("span", {class: "breakable"}, f.short(text(v), 400));
  return h(
      "div", {id: "difference"}, h("h3", {}, "A against B"),
      h("p", {class: "note"}, h("strong", {}, "A: "), name(a), "; ", h("strong", {}, "B: "), name(b), ". ",
        h("button", {
          type: "button",
          onclick: () => {
            state.set({diff: whole ? "" : "all"});
            redraw();
          }
        },
          whole ? "Only what differs" : "Show everything"),
        " ",
        h("button", {
          type: "button",
          onclick: () => {
            state.set({a: "", b: "", diff: ""});
            redraw();
          }
        },
          "Clear")),
      table({
        id: "diff",
        caption: "Difference of two rows",
        rows: list,
        page: 40,
        emptyText: "The rows differ in nothing.",
        columns: [
          {
            title: "Field",
            value: (e) => e.path.join("."),
            cell: (e) => h("code", {class: "breakable"}, f.short(e.path.join("."), 120))
          },
          {title: "A", value: (e) => text(e.a), cell: (e) => value(e.a)},
          {title: "B", value: (e) => text(e.b), cell: (e) => value(e.b)},
        ]
      }));
}
