// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// Tables that sort, filter and turn pages. What was chosen is in the fragment, under the table's
// prefix: .s (sort), .q (filter), .p (page).
import {h} from "./dom.js";
import * as state from "./state.js";

const PAGE = 25;

// columns: [{title, unit, hint, value: row => sort key, cell: row => text or node, number: bool}]
// cards: on a phone each row is a card; a column's `card` says where it stands there: "head" and
// "verdict" in the first line, "sub" below, "line" on lines of their own, the rest small.
export function table({
  id,
  caption,
  columns,
  rows,
  sort = "",
  page = PAGE,
  filter = true,
  cards = false,
  emptyText = "Nothing to show."
}) {
  const key = (name) => id + "." + name;
  const body = h("tbody");
  const position = h("span", {"aria-live": "polite"});
  const previous = h("button", {type: "button", onclick: () => turn(-1)}, "Previous");
  const next = h("button", {type: "button", onclick: () => turn(1)}, "Next");
  const pages = h("div", {class: "pages"}, previous, next, position);
  const heads = columns.map(
      (column, index) =>
          h("th", {scope: "col", class: column.number ? "number" : "", title: column.hint},
            h("button", {type: "button", onclick: () => order(index)}, column.title,
              column.unit ? h("span", {class: "unit"}, " " + column.unit) : null,
              h("span", {class: "arrow", "aria-hidden": "true"}))));
  // What the filter looks at: the text of the cells, made once.
  const texts =
      filter && rows.map((row) => columns.map((column) => textOf(column.cell(row))).join(" ").toLowerCase());

  function chosen() {
    const [column, direction] = state.get(key("s"), sort).split(".");
    const index = columns.findIndex((one) => one.title === column);
    return {index, down: direction === "d"};
  }

  function order(index) {
    const now = chosen();
    const down = now.index === index ? !now.down : false;
    state.set({[key("s")]: columns[index].title + (down ? ".d" : ".u"), [key("p")]: ""});
    draw();
  }

  function turn(by) {
    state.set({[key("p")]: String(Number(state.get(key("p"), "0")) + by)});
    draw();
  }

  function draw() {
    const words = state.get(key("q")).toLowerCase().split(/\s+/).filter(Boolean);
    let shown = rows.map((row, index) => [row, index]);
    if (words.length) shown = shown.filter(([, index]) => words.every((word) => texts[index].includes(word)));
    const {index, down} = chosen();
    if (index >= 0) {
      const value = columns[index].value || ((row) => textOf(columns[index].cell(row)));
      const keyed = shown.map((entry) => [value(entry[0]), entry]);
      keyed.sort(([a], [b]) => compare(a, b, down));
      shown = keyed.map(([, entry]) => entry);
    }
    const last = Math.max(0, Math.ceil(shown.length / page) - 1);
    const at = Math.min(Math.max(0, Number(state.get(key("p"), "0")) || 0), last);
    body.replaceChildren(
        ...shown.slice(at * page, (at + 1) * page)
            .map(
                ([row]) =>
                    h("tr", {class: row.rowClass},
                      columns.map(
                          (column) =>
                              h("td", {
                                class: (column.number ? "number" : "") +
                                    (cards ? " card-" + (column.card || "small") : ""),
                                "data-title": cards ? column.title : null
                              },
                                column.cell(row))))));
    if (!shown.length) {
      body.append(
          h("tr", {},
            h("td", {colspan: columns.length, class: "none"},
              rows.length ? "Nothing matches the filter." : emptyText)));
    }
    previous.disabled = at === 0;
    next.disabled = at === last;
    pages.hidden = shown.length <= page && rows.length <= page;
    position.textContent = shown.length ? `${at * page + 1}–${Math.min(shown.length, (at + 1) * page)} of ${
                                              shown.length.toLocaleString("en")}` :
                                          "";
    heads.forEach((head, i) => {
      if (i === index)
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
      else
        head.removeAttribute("aria-sort");
    });
  }

  const input = filter && rows.length > 5 && h("input", {
                  type: "search",
                  placeholder: "Filter",
                  "aria-label": "Filter " + caption,
                  value: state.get(key("q")),
                  oninput: (event) => {
                    state.set({[key("q")]: event.target.value, [key("p")]: ""});
                    draw();
                  },
                });
  // Where there are no headings to press.
  const sorting = cards && rows.length > 1 &&
      h("label", {class: "choice only-narrow"}, h("span", {}, "Sort by"),
        h("select", {
          onchange: (event) => {
            state.set({[key("s")]: event.target.value, [key("p")]: ""});
            draw();
          }
        },
          h("option", {value: ""}, "as they come"),
          columns.flatMap(
              ({title}) => [["u", "↑"], ["d", "↓"]].map(
                  ([way, arrow]) =>
                      h("option",
                        {value: title + "." + way, selected: state.get(key("s")) === title + "." + way},
                        title + " " + arrow)))));
  draw();
  return h(
      "div", {class: "table" + (cards ? " cards" : ""), "data-table": id},
      input || sorting ? h("div", {class: "tools"}, input, sorting) : null,
      h("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": caption},
        h("table", {}, h("caption", {class: "hidden"}, caption), h("thead", {}, h("tr", {}, heads)), body)),
      pages);
}

// Unknown values last, whatever the direction.
function compare(a, b, down) {
  const none = (x) => x === null || x === undefined || Number.isNaN(x);
  if (none(a) || none(b)) return none(a) - none(b);
  const order = typeof a === "number" && typeof b === "number" ?
      a - b :
      String(a).localeCompare(String(b), "en", {numeric: true});
  return down ? -order : order;
}

function textOf(cell) {
  if (cell === null || cell === undefined) return "";
  if (Array.isArray(cell)) return cell.map(textOf).join(" ");
  return cell instanceof Node ? cell.textContent : String(cell);
}
