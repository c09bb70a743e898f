// Small helpers that build elements. Texts are set as text, never as markup.

type Child = Node | string | null | undefined;

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | number | boolean | null | undefined> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    node.setAttribute(name, value === true ? '' : String(value));
  }
  for (const child of children) if (child !== null && child !== undefined) node.append(child);
  return node;
}

export function button(
  label: string,
  onClick: () => void,
  attributes: Record<string, string> = {},
): HTMLButtonElement {
  const node = element('button', { type: 'button', ...attributes }, label);
  node.addEventListener('click', onClick);
  return node;
}

let counter = 0;

export function freshId(prefix: string): string {
  return `${prefix}-${++counter}`;
}

/** A labelled choice from a list. */
export function select(
  label: string,
  options: readonly { value: string; label: string }[],
  value: string,
  onChange: (value: string) => void,
): HTMLLabelElement {
  const list = element('select');
  for (const option of options)
    list.append(element('option', { value: option.value }, option.label));
  list.value = value;
  list.addEventListener('change', () => onChange(list.value));
  return element('label', { class: 'field' }, element('span', {}, label), list);
}

/** Saves text as a file of the reader. */
export function download(name: string, type: string, content: string): void {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = element('a', { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

let announcer: HTMLElement | null = null;

/** Says something to screen readers, politely. */
export function announce(text: string): void {
  announcer ??= document.getElementById('announcer');
  if (announcer) announcer.textContent = text;
}
