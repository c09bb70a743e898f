// A figure as a file of its own: title, description, a white ground and colours instead of variables.

import { withLightColors } from './theme_colors.ts';

const namespace = 'http://www.w3.org/2000/svg';

export function svgFile(svg: SVGElement, title: string, description: string): string {
  const owner = svg.ownerDocument;
  const width = svg.getAttribute('width') ?? '900';
  const height = svg.getAttribute('height') ?? '400';
  const make = (name: string, text: string) => {
    const node = owner.createElementNS(namespace, name);
    node.textContent = text;
    return node;
  };
  const outer = owner.createElementNS(namespace, 'svg');
  const attributes: Record<string, string> = {
    width: String(Number(width) + 24),
    height: String(Number(height) + 52),
    viewBox: `-12 -40 ${Number(width) + 24} ${Number(height) + 52}`,
    'font-family': 'system-ui, "Segoe UI", "Helvetica Neue", "DejaVu Sans", Arial, sans-serif',
    role: 'img',
  };
  for (const [name, value] of Object.entries(attributes)) outer.setAttribute(name, value);
  outer.appendChild(make('title', title));
  outer.appendChild(make('desc', description));
  const ground = owner.createElementNS(namespace, 'rect');
  for (const [name, value] of Object.entries({
    x: '-12',
    y: '-40',
    width: '100%',
    height: '100%',
    fill: '#ffffff',
  }))
    ground.setAttribute(name, value);
  outer.appendChild(ground);
  const heading = make('text', title);
  for (const [name, value] of Object.entries({
    x: '4',
    y: '-16',
    'font-size': '16',
    'font-weight': '600',
    fill: 'var(--ink)',
  }))
    heading.setAttribute(name, value);
  outer.appendChild(heading);
  outer.appendChild(svg);
  let text =
    typeof XMLSerializer === 'function' && 'defaultView' in owner && owner.defaultView !== null
      ? new XMLSerializer().serializeToString(outer)
      : outer.outerHTML;
  if (!/^<svg[^>]*xmlns=/.test(text)) text = text.replace('<svg', `<svg xmlns="${namespace}"`);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${withLightColors(text)}\n`;
}
