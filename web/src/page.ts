// The page: reads the data, writes the answer, and keeps figures and table in step with the filters.

import { answers, extent } from './answer.ts';
import { Card } from './card.ts';
import { DataError, decode } from './data.ts';
import { Everything } from './everything.ts';
import { announce, button, element, select } from './elements.ts';
import { factSections, failureList, leftOutList, sourceList } from './facts.ts';
import { figures } from './figures/index.ts';
import {
  applyFilter,
  choicesOf,
  type Filter,
  noFilter,
  type SelectKey,
  type View,
} from './filter.ts';
import { normalise } from './documents/normalise.ts';
import type { Report } from './documents/report.ts';
import type { Figure } from './plot.ts';

import { capitalised } from './text.ts';
import { themeSwitch } from './theme.ts';

const filterLabels: [SelectKey, string][] = [
  ['machine', 'Machine'],
  ['kernel', 'Kind'],
  ['backend', 'Backend'],
  ['format', 'Format'],
  ['precision', 'Precision'],
  ['threads', 'Threads'],
  ['power', 'Power'],
  ['source', 'File'],
];

class Page {
  private filter: Filter = { ...noFilter };
  private changes = 0;
  private view: View;
  private readonly cards: Card[];
  private readonly table: Everything | null;
  private readonly answer = element('div', { class: 'answer' });
  private readonly extent = element('p', { class: 'extent' });
  private readonly filterForm: HTMLElement;

  constructor(
    private readonly report: Report,
    main: HTMLElement,
  ) {
    this.view = applyFilter(report, this.filter);
    const shown: Figure[] = [];
    const missing: Figure[] = [];
    for (const figure of figures)
      (figure.build(this.view, {}) === null ? missing : shown).push(figure);
    this.cards = shown.map((figure) => new Card(figure, this.view));
    this.filterForm = this.makeFilters();
    this.table = report.results.length > 0 ? new Everything(this.view) : null;
    this.showAnswer();
    main.append(
      element(
        'header',
        { class: 'top' },
        element(
          'div',
          { class: 'bar' },
          element('p', { class: 'brand' }, report.title || 'Strata report'),
          themeSwitch(),
        ),
        this.answer,
        this.extent,
      ),
    );
    if (report.results.length > 0) main.append(this.filterForm);
    main.append(this.contents(shown));
    let section = '';
    for (const card of this.cards) {
      if (card.figure.section !== section) {
        section = card.figure.section;
        main.append(element('h2', { id: sectionId(section) }, section));
      }
      main.append(card.node);
    }
    main.append(element('h2', { id: 'facts' }, 'Machines, matrices and all results'));
    main.append(...factSections(report));
    if (this.table) {
      main.append(
        element(
          'section',
          { class: 'card', id: 'everything', 'aria-labelledby': 'everything-title' },
          element('h3', { id: 'everything-title' }, 'All results'),
          element(
            'p',
            { class: 'summary' },
            'Every result that passes the filters. The headings sort.',
          ),
          this.table.node,
        ),
      );
    }
    for (const part of [failureList(report), sourceList(report), leftOutList(missing)])
      if (part) main.append(part);
    this.watch();
  }

  private showAnswer(): void {
    const found = answers(this.view);
    const [first, ...rest] = found;
    const parts: Node[] = [
      element(
        'h1',
        {},
        first?.text ??
          (this.report.results.length > 0
            ? 'Nothing here was compared with plain products or with another library.'
            : 'No measurements of products or powers are in this report.'),
      ),
    ];
    if (first && first.parts.length > 0) parts.push(sentences(first.parts));
    if (rest.length > 0)
      parts.push(
        element(
          'ul',
          { class: 'further' },
          ...rest
            .slice(0, 5)
            .map((answer) =>
              element(
                'li',
                {},
                answer.text,
                answer.parts.length > 0
                  ? element(
                      'details',
                      {},
                      element('summary', {}, 'One by one'),
                      sentences(answer.parts),
                    )
                  : null,
              ),
            ),
        ),
      );
    this.answer.replaceChildren(...parts);
    this.extent.textContent =
      extent(this.view) + (this.report.made ? ` · made ${this.report.made.slice(0, 10)}` : '');
  }

  private makeFilters(): HTMLElement {
    const form = element('form', {
      class: 'filters',
      'aria-label': 'Filters of all figures and of the table',
    });
    form.addEventListener('submit', (event) => event.preventDefault());
    const text = element('input', {
      type: 'search',
      id: 'filter-matrix',
      placeholder: 'part of a name',
      autocomplete: 'off',
      spellcheck: 'false',
    });
    text.addEventListener('input', () => this.change({ matrix: text.value }));
    form.append(element('label', { class: 'field' }, element('span', {}, 'Matrix'), text));
    const lists: HTMLSelectElement[] = [];
    for (const [key, label] of filterLabels) {
      const options = choicesOf(this.report, key);
      if (options.length < 2) continue;
      const field = select(label, [{ value: '', label: 'all' }, ...options], '', (value) =>
        this.change({ [key]: value }),
      );
      const list = field.querySelector('select')!;
      list.id = `filter-${key}`;
      lists.push(list);
      form.append(field);
    }
    form.append(
      button(
        'Clear',
        () => {
          text.value = '';
          for (const list of lists) list.value = '';
          this.change(noFilter);
        },
        { class: 'plain', id: 'filter-clear' },
      ),
    );
    const fold = element(
      'details',
      { class: 'filter-bar' },
      element('summary', {}, 'Filters'),
      form,
    );
    // On wide screens filters are always open; on phones they would cover what they filter.
    fold.open = matchMedia('(min-width: 720px)').matches;
    return fold;
  }

  private change(part: Partial<Filter>): void {
    this.filter = { ...this.filter, ...part };
    this.view = applyFilter(this.report, this.filter);
    this.showAnswer();
    // What the reader looks at comes first; the rest follows when the browser has painted that.
    for (const card of this.cards) card.update(this.view);
    const [first, ...others] = this.cards
      .filter((card) => card.visible)
      .sort((a, b) => a.distance() - b.distance());
    first?.draw();
    this.table?.update(this.view);
    const asked = ++this.changes;
    const next = () => {
      const card = others.shift();
      if (!card || asked !== this.changes) return;
      card.draw();
      setTimeout(next);
    };
    setTimeout(next);
    announce(`${this.view.results.length} results pass the filters.`);
  }

  private contents(shown: readonly Figure[]): HTMLElement {
    const list = element('ul');
    for (const section of [...new Set(shown.map((figure) => figure.section))]) {
      list.append(element('li', {}, element('a', { href: `#${sectionId(section)}` }, section)));
    }
    list.append(element('li', {}, element('a', { href: '#facts' }, 'All results')));
    return element('nav', { class: 'contents', 'aria-label': 'Contents' }, list);
  }

  /** Draws the rest one by one while nothing else is to be done, so that scrolling shifts nothing. */
  private drawAtLeisure(): void {
    const waiting = [...this.cards];
    const idle = globalThis.requestIdleCallback ?? ((work: () => void) => setTimeout(work, 50));
    const next = () => {
      const card = waiting.shift();
      if (card) {
        card.drawFirst();
        idle(next);
      } else {
        this.table?.draw();
      }
    };
    idle(next);
  }

  /** Draws what is in sight, and everything before printing. */
  private watch(): void {
    const observer = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) {
          const card =
            entry.target === this.table?.node
              ? this.table
              : this.cards.find((candidate) => candidate.node === entry.target);
          if (!card) continue;
          card.visible = entry.isIntersecting;
          if (card.visible) card.draw();
        }
      },
      { rootMargin: '200px 0px' },
    );
    for (const card of this.cards) observer.observe(card.node);
    if (this.table) observer.observe(this.table.node);
    this.drawAtLeisure();
    let timer: ReturnType<typeof setTimeout> | undefined;
    addEventListener('resize', () => {
      clearTimeout(timer);
      timer = setTimeout(() => this.cards.forEach((card) => card.visible && card.draw()), 100);
    });
    const all = () => {
      for (const fold of this.answer.querySelectorAll('details')) fold.open = true;
      this.cards.forEach((card) => card.draw());
      this.table?.draw();
    };
    addEventListener('beforeprint', all);
    matchMedia('print').addEventListener('change', all);
  }
}

function sentences(texts: readonly string[]): HTMLElement {
  return element('ul', {}, ...texts.map((text) => element('li', {}, text)));
}

function sectionId(section: string): string {
  return `section-${section.toLowerCase().replace(/[^a-z]+/g, '-')}`;
}

async function start(): Promise<void> {
  const main = document.getElementById('main')!;
  try {
    const holder = document.getElementById('strata-data');
    const report = normalise(await decode(holder?.textContent ?? ''));
    holder?.remove();
    document.title = report.title || 'Strata report';
    main.replaceChildren();
    new Page(report, main);
    document.documentElement.dataset.ready = 'yes';
    performance.mark('strata-ready');
  } catch (error) {
    const reason = error instanceof DataError ? error.message : `the page failed: ${String(error)}`;
    main.replaceChildren(
      element('p', { class: 'failure', role: 'alert' }, `${capitalised(reason)}.`),
    );
    document.documentElement.dataset.ready = 'failed';
    if (!(error instanceof DataError)) throw error;
  }
}

void start();
