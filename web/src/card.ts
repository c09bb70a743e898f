// A figure on the page: its title, what there is to see, its choices, the drawing and the numbers.
// Drawings are made when they come into sight, and again only when something about them changed.

import { choicesText } from './choices.ts';
import { button, download, element, freshId, select } from './elements.ts';
import type { View } from './filter.ts';
import type { Drawing, Figure } from './plot.ts';
import { svgFile } from './svg_file.ts';
import { sortableTable } from './table.ts';

export class Card {
  readonly node: HTMLElement;
  private readonly chosen: Record<string, string> = {};
  private readonly summary: HTMLElement;
  private readonly controls = element('div', { class: 'controls' });
  private readonly choices = element('p', { class: 'choices' });
  private readonly picture: HTMLElement;
  private readonly numbers = element('div');
  private readonly details: HTMLDetailsElement;
  private drawing: Drawing | null = null;
  private view: View;
  private stale = true;
  private drawnWidth = 0;
  private controlsText = '';
  visible = false;

  constructor(
    readonly figure: Figure,
    view: View,
  ) {
    this.view = view;
    const heading = freshId('figure');
    const described = freshId('summary');
    this.summary = element('p', { class: 'summary', id: described });
    this.picture = element('div', {
      class: 'picture',
      role: 'img',
      'aria-label': figure.title,
      'aria-describedby': described,
    });
    this.details = element(
      'details',
      { class: 'numbers' },
      element('summary', {}, 'The numbers'),
      this.numbers,
    );
    this.details.addEventListener('toggle', () => this.fillNumbers());
    this.node = element(
      'section',
      { class: 'card', id: figure.id, 'aria-labelledby': heading },
      element('h3', { id: heading }, figure.title),
      this.summary,
      this.controls,
      this.choices,
      this.picture,
      element(
        'div',
        { class: 'below' },
        element(
          'details',
          { class: 'reading' },
          element('summary', {}, 'How to read it'),
          element('p', {}, figure.reading),
        ),
        this.details,
        button('Save as SVG', () => this.save(), {
          class: 'plain',
          'aria-label': `Save “${figure.title}” as SVG`,
        }),
      ),
    );
  }

  update(view: View): void {
    this.view = view;
    this.stale = true;
  }

  /** Pixels between the middle of the window and the figure; 0 if it is there. */
  distance(): number {
    const { top, bottom } = this.node.getBoundingClientRect();
    const middle = innerHeight / 2;
    return top > middle ? top - middle : bottom < middle ? middle - bottom : 0;
  }

  /** Draws it unless it has been drawn before, however long ago. */
  drawFirst(): void {
    if (this.drawnWidth === 0) this.draw();
  }

  /** Draws what is not up to date. */
  draw(): void {
    this.picture.hidden = false; // what is hidden has no width
    const width = Math.max(280, Math.floor(this.picture.clientWidth));
    if (!this.stale && width === this.drawnWidth) {
      this.picture.hidden = this.drawing === null;
      return;
    }
    if (this.stale) {
      this.drawing = this.figure.build(this.view, this.chosen);
      this.stale = false;
      this.showControls();
      this.fillNumbers();
    }
    this.drawnWidth = width;
    if (this.drawing === null) {
      this.summary.textContent = 'Nothing passes the filters.';
      this.picture.replaceChildren();
      this.picture.hidden = true;
      return;
    }
    this.summary.textContent = this.drawing.summary;
    this.picture.replaceChildren(this.drawing.draw({ document, width, interactive: true }));
  }

  private showControls(): void {
    const controls = this.drawing?.controls ?? [];
    const text = JSON.stringify(controls);
    if (text === this.controlsText) return;
    this.controlsText = text;
    this.choices.textContent = choicesText(controls);
    const focused = [...this.controls.querySelectorAll('select')].findIndex(
      (list) => list === document.activeElement,
    );
    const name = (document.activeElement?.closest('label') as HTMLElement | null)?.firstChild
      ?.textContent;
    const nodes = controls.map((item) =>
      select(item.label, item.options, item.value, (value) => {
        this.chosen[item.id] = value;
        this.stale = true;
        this.draw();
      }),
    );
    this.controls.replaceChildren(...nodes);
    // Lists are made again when what they offer changes: the one in use keeps the focus.
    if (focused >= 0)
      nodes
        .find((node) => node.firstChild?.textContent === name)
        ?.querySelector('select')
        ?.focus();
  }

  private fillNumbers(): void {
    if (!this.details.open) {
      this.numbers.replaceChildren();
    } else if (this.drawing) {
      this.numbers.replaceChildren(
        sortableTable(
          this.drawing.table,
          `Numbers of “${this.figure.title}”`,
          `strata-${this.figure.id}`,
        ),
      );
    } else {
      this.numbers.replaceChildren(element('p', { class: 'note' }, 'Nothing passes the filters.'));
    }
  }

  private save(): void {
    this.draw();
    if (!this.drawing) return;
    download(
      `strata-${this.figure.id}.svg`,
      'image/svg+xml',
      svgFile(this.figure, this.drawing, document),
    );
  }
}
