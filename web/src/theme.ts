// Light, dark, or as the system has it. The colours themselves are in the style sheet.

import { element } from './elements.ts';

type Choice = 'system' | 'light' | 'dark';

function stored(): Choice {
  try {
    const value = localStorage.getItem('strata-theme');
    return value === 'light' || value === 'dark' ? value : 'system';
  } catch {
    return 'system'; // pages opened from files may have no storage
  }
}

/** The switch between light, dark and the system's choice. */
export function themeSwitch(): HTMLElement {
  const apply = (choice: Choice) => {
    if (choice === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = choice;
    try {
      localStorage.setItem('strata-theme', choice);
    } catch {
      // The choice then lasts as long as the page.
    }
  };
  const now = stored();
  apply(now);
  const group = element(
    'fieldset',
    { class: 'theme' },
    element('legend', { class: 'hidden' }, 'Colours'),
  );
  for (const [value, label] of [
    ['system', 'Auto'],
    ['light', 'Light'],
    ['dark', 'Dark'],
  ] as const) {
    const input = element('input', { type: 'radio', name: 'theme', value, id: `theme-${value}` });
    input.checked = value === now;
    input.addEventListener('change', () => apply(value));
    group.append(input, element('label', { for: `theme-${value}` }, label));
  }
  return group;
}
