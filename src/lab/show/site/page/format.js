// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them, always with their unit. The numbers themselves come from the data.

const NONE = "–";

export const known = (value) => typeof value === "number" && Number.isFinite(value);

// Four significant digits, as the terminal has them.
function digits(value, count = 4) {
  return Number(value.toPrecision(count)).toPrecision(count).includes("e") ?
      value.toPrecision(count) :
      value.toFixed(Math.max(0, count - 1 - Math.floor(Math.log10(Math.abs(value) || 1))));
}

function scaled(value, steps, count) {
  if (value === 0) return "0 " + steps[steps.length - 1][1];
  for (const [size, unit] of steps)
    if (Math.abs(value) >= size) return digits(value / size, count) + " " + unit;
  const [size, unit] = steps[steps.length - 1];
  return digits(value / size, count) + " " + unit;
}

const TIME = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];
const BYTES = [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]];
const RATE = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];

export function seconds(value) {
  return known(value) ? scaled(value, TIME, 4) : NONE;
}
export function bytes(value) {
  return known(value) ? (Math.abs(value) < 1024 ? value.toFixed(0) + " B" : scaled(value, BYTES, 4)) : NONE;
}
export function rate(value, unit) {
  return known(value) ? scaled(value, RATE.map(([size, prefix]) => [size, prefix + unit]), 3) : NONE;
}
export function percent(value, places = 0) {
  return known(value) ? (100 * value).toFixed(places) + " %" : NONE;
}
export function plain(value, count = 4) {
  return known(value) ? String(Number(value.toPrecision(count))) : NONE;
}

export function ratio(value) {
  if (!known(value)) return NONE;
  if (value >= 99.995) return value.toFixed(0);
  if (value >= 9.9995) return value.toFixed(2);
  if (value >= 0.09995) return value.toFixed(3);
  return value.toPrecision(3);
}

// By the kind of a metric (see data.cases).
export function quantity(value, kind, unit) {
  switch (kind) {
    case "time":
      return seconds(value);
    case "bytes":
      return bytes(value);
    case "rate":
      return rate(value, unit);
    case "fraction":
      return percent(value, 1);
    default:
      return plain(value);
  }
}

// "1.043 [1.031, 1.055]"; without an interval the value alone.
export function withInterval(value, low, high, format) {
  if (!known(value)) return NONE;
  return known(low) && known(high) ? `${format(value)} [${format(low)}, ${format(high)}]` : format(value);
}

// Both ends in the unit of the value, named once: "1.234 [1.220, 1.251] ms".
export function quantityInterval(value, low, high, kind, unit) {
  const text = quantity(value, kind, unit);
  if (!known(value) || !known(low) || !known(high)) return text;
  const ends = [text, quantity(low, kind, unit), quantity(high, kind, unit)].map((part) => part.split(" "));
  if (ends.every((part) => part.length === 2 && part[1] === ends[0][1])) {
    return `${ends[0][0]} [${ends[1][0]}, ${ends[2][0]}] ${ends[0][1]}`;
  }
  return `${text} [${ends[1].join(" ")}, ${ends[2].join(" ")}]`;
}

// The label of a tick: as few digits as tell it apart.
export function tick(value, kind, unit) {
  const [number, ...rest] = quantity(value, kind, unit).split(" ");
  return [String(Number(number)), ...rest].join(" ");
}

export function short(text, length = 32) {
  const characters = [...String(text)];
  return characters.length > length ? characters.slice(0, length - 1).join("") + "…" : String(text);
}

export function change(value) {
  if (!known(value)) return NONE;
  const by = 100 * (value - 1);
  return (by >= 0 ? "+" : "−") + Math.abs(by).toFixed(Math.abs(by) < 10 ? 1 : 0) + " %";
}

export function moment(text) {
  return text ? String(text).slice(0, 16).replace("T", " ") : NONE;
}
export function count(value, noun) {
  return `${value.toLocaleString("en")} ${noun}${value === 1 ? "" : "s"}`;
}
