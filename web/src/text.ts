// How names and numbers are written. Names come from documents that anybody may have written: what
// a reader cannot see (line ends, control and direction characters) is replaced by what he can.

const narrowSpace = '\u202f';

/** A name on one line, without characters that are invisible or change the direction of text. */
export function oneLine(value: unknown): string {
  const text =
    typeof value === 'string' ? value : value === null || value === undefined ? '' : String(value);
  let line = '';
  for (const character of text) {
    const code = character.codePointAt(0)!;
    if (code === 10 || code === 13) line += '␤';
    else if (code === 9) line += ' ';
    else if (code < 32 || (code >= 0x7f && code < 0xa0)) line += '␦';
    else if ((code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069)) line += '␦';
    else if ((code >= 0xd800 && code <= 0xdfff) || code === 0xfffe || code === 0xffff) line += '␦';
    else line += character;
  }
  return line.trim();
}

/** At most `length` characters: the middle is left out, for names often differ at their end. */
export function shorten(text: string, length: number): string {
  const characters = [...text];
  if (characters.length <= length) return text;
  const head = Math.ceil((length - 1) * 0.6);
  const tail = length - 1 - head;
  return (
    characters.slice(0, head).join('') + '…' + (tail > 0 ? characters.slice(-tail).join('') : '')
  );
}

/** Digits in groups of three. */
export function grouped(value: number): string {
  if (Math.abs(value) >= 1e15) return number(value);
  return minus(
    Math.round(value)
      .toString()
      .replace(/\B(?=(\d{3})+(?!\d))/g, narrowSpace),
  );
}

/** Three significant digits, as tables of measurements have them. */
export function number(value: number | null | undefined, digits = 3): string {
  if (value === null || value === undefined || Number.isNaN(value)) return '–';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '−∞';
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e15 || size < 1e-4) return minus(value.toExponential(digits - 1));
  if (size >= 10 ** digits) return minus((value < 0 ? '-' : '') + grouped(size));
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(size) + 1e-12));
  return minus(value.toFixed(decimals));
}

function minus(text: string): string {
  return text.replace('-', '−');
}

function scaled(value: number, units: readonly string[], step: number): string {
  let unit = 0;
  let rest = value;
  while (unit + 1 < units.length && Math.abs(rest) >= step) {
    rest /= step;
    ++unit;
  }
  return `${number(rest)}${narrowSpace}${units[unit]}`;
}

export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  return scaled(value, ['B', 'kB', 'MB', 'GB', 'TB'], 1000);
}

export function seconds(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  if (value === 0) return '0 s';
  return scaled(value * 1e9, ['ns', 'µs', 'ms', 's'], 1000);
}

/** Short forms for axes: 1k, 20M. */
export function tick(value: number): string {
  if (!Number.isFinite(value)) return '';
  if (value === 0) return '0';
  const size = Math.abs(value);
  const units: readonly [number, string][] = [
    [1e12, 'T'],
    [1e9, 'G'],
    [1e6, 'M'],
    [1e3, 'k'],
  ];
  for (const [factor, unit] of units) {
    if (size >= factor * 0.9999) return `${trim(value / factor)}${unit}`;
  }
  return trim(value);
}

function trim(value: number): string {
  return minus(String(Number(value.toPrecision(3))));
}

export function byteTick(value: number): string {
  return value > 0 ? bytes(Number(value.toPrecision(3))).replace(/\.0+(?=\D)/, '') : '0';
}

export function secondTick(value: number): string {
  const units: readonly [number, string][] = [
    [1, 's'],
    [1e-3, 'ms'],
    [1e-6, 'µs'],
    [1e-9, 'ns'],
  ];
  const [factor, unit] = units.find(([size]) => value >= size * 0.9999) ?? units[3]!;
  return `${trim(value / factor)}${narrowSpace}${unit}`;
}

export function percent(share: number): string {
  return `${Math.round(share * 100)}${narrowSpace}%`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

/** The beginning of a sentence. */
export function capitalised(text: string): string {
  const [first = '', ...rest] = text;
  return first.toUpperCase() + rest.join('');
}

/** "a", "a and b", "a, b and c". */
export function listed(words: readonly string[]): string {
  if (words.length < 2) return words[0] ?? '';
  return `${words.slice(0, -1).join(', ')} and ${words[words.length - 1]}`;
}
