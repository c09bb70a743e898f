// A figure as a file of its own: title, what there is to see, what was chosen, a ground, and colours
// instead of variables. The same figure gives the same bytes: there are no dates and no counters in
// it, and coordinates have two decimals.

import { choicesText } from './choices.ts';
import type { Drawing, Figure } from './plot.ts';
import { textWidth } from './plot.ts';
import { darkRules, withLightColors } from './theme_colors.ts';

const namespace = 'http://www.w3.org/2000/svg';
const fileWidth = 860;
const leastWidth = 480; // texts need room beside small drawings
const margin = 12;
const lineHeight = 17;

/** Draws a figure for a file and returns the text of the file. */
export function svgFile(figure: Figure, drawing: Drawing, document: Document): string {
  const svg = drawing.draw({ document, width: fileWidth - 2 * margin, interactive: false });
  const inner = Number(svg.getAttribute('width') ?? fileWidth - 2 * margin);
  const width = Math.max(inner + 2 * margin, leastWidth);
  const lines = [drawing.summary, choicesText(drawing.controls ?? [])].flatMap((text) =>
    wrapped(text, width - 2 * margin - 8),
  );
  const top = margin + 26 + lines.length * lineHeight + 8;
  const height = top + Number(svg.getAttribute('height') ?? 400) + margin;
  svg.setAttribute('x', String(margin));
  svg.setAttribute('y', String(top));

  const make = (name: string, attributes: Record<string, string | number>, text = '') => {
    const node = document.createElementNS(namespace, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value));
    node.textContent = text;
    return node;
  };
  const outer = make('svg', {
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    'font-family': 'system-ui, "Segoe UI", "Helvetica Neue", "DejaVu Sans", Arial, sans-serif',
    role: 'img',
  });
  outer.append(
    make('title', {}, figure.title),
    make('desc', {}, drawing.summary),
    make('rect', { width, height, rx: 6, fill: 'var(--card)' }),
    make(
      'text',
      { x: margin + 4, y: margin + 16, 'font-size': 16, 'font-weight': 600, fill: 'var(--ink)' },
      figure.title,
    ),
    ...lines.map((line, index) =>
      make(
        'text',
        {
          x: margin + 4,
          y: margin + 20 + (index + 1) * lineHeight,
          'font-size': 12,
          fill: 'var(--muted)',
        },
        line,
      ),
    ),
    svg,
  );
  const text = withLightColors(rounded(serialised(outer)));
  return `<?xml version="1.0" encoding="UTF-8"?>\n${text.replace('<title>', () => `<style>${darkRules(text)}</style><title>`)}\n`;
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ').filter(Boolean)) {
    const last = lines[lines.length - 1];
    if (last !== undefined && textWidth(`${last} ${word}`) <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

function serialised(node: Element): string {
  const owner = node.ownerDocument;
  const text =
    typeof XMLSerializer === 'function' && 'defaultView' in owner && owner.defaultView !== null
      ? new XMLSerializer().serializeToString(node)
      : node.outerHTML;
  return /^<svg[^>]*xmlns=/.test(text) ? text : text.replace('<svg', `<svg xmlns="${namespace}"`);
}

/** Attributes with two decimals: the last digits differ from one mathematical library to another. */
function rounded(svg: string): string {
  return svg.replace(/<[^>]+>/g, (tag) =>
    tag.replace(/-?\d+\.\d{3,}(?:e[-+]?\d+)?/g, (number) =>
      String(Number(Number(number).toFixed(2))),
    ),
  );
}
