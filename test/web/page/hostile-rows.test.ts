// Tests with elements that are no browser's what the page shows of rows that are malformed, or whose texts would turn
// others round.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { failuresView, whyView } from '../../../web/page/failures.js'
import { noticesOf } from '../../../web/page/notices.js'

class FakeElement {
  readonly tag: string
  children: (FakeElement | string)[] = []
  value = ''

  constructor(tag: string) {
    this.tag = tag
  }

  append(...children: (FakeElement | string)[]): void {
    this.children.push(...children)
  }

  replaceChildren(...children: (FakeElement | string)[]): void {
    this.children = children
  }

  setAttribute(): void {
    // Nothing looks at them.
  }

  addEventListener(): void {
    // Nothing happens to it.
  }

  get textContent(): string {
    return this.children
      .map((each) => (typeof each === 'string' ? each : each.textContent))
      .join('')
  }
}

const before = Object.getOwnPropertyDescriptor(globalThis, 'document')

beforeAll(() => {
  const document = { createElement: (tag: string) => new FakeElement(tag) }
  Object.defineProperty(globalThis, 'document', { value: document, configurable: true })
})

afterAll(() => {
  if (before === undefined) Reflect.deleteProperty(globalThis, 'document')
  else Object.defineProperty(globalThis, 'document', before)
})

const GOOD = {
  id: 'good',
  at: 'then',
  ms: 1,
  method: 'get',
  status: 502,
  step: 'action',
  code: 'GOOD-CODE',
}

/** What a view shows when it is given this. */
const shownBy = async (make: typeof failuresView, response: object): Promise<string> => {
  const view = make({
    parameters: new URLSearchParams(),
    say: () => undefined,
    gateways: [],
    read: () => Promise.resolve(response),
    attempt: (task) => task(),
  }) as unknown as { readonly content: FakeElement; readonly load: () => Promise<void> }
  const { content, load } = view
  await load()
  return content.textContent
}

describe('a row that is malformed', () => {
  it.each([
    ['no method', {}],
    ['no document', { ...GOOD, document: null }],
    ['nothing at all', null],
  ])('with %s hides no other', async (_title, row) => {
    const shown = await shownBy(failuresView, { failures: [row, GOOD], next: null })
    expect(shown).toContain('A row that cannot be shown.')
    expect(shown).toContain('GOOD-CODE')
  })

  it.each([
    ['no method', { id: 'bad' }],
    ['no document', { ...GOOD, document: null }],
    ['no route', { ...GOOD, tried: {} }],
    ['nothing at all', null],
  ])('with %s hides no other decision', async (_title, row) => {
    const shown = await shownBy(whyView, { gateways: [{ name: 'gw', decisions: [row, GOOD] }] })
    expect(shown).toContain('GOOD-CODE')
  })
})

it('a note has its parts in elements of their own', () => {
  const note = {
    severity: 'error' as const,
    message: 'm\u202e',
    place: 'a.yaml:1:1',
    resource: 'Realm a/b',
  }
  const shown = noticesOf({ notes: [note], moreNotes: 0 }) as unknown as readonly [FakeElement]
  const { children, textContent } = shown[0]
  expect(textContent).toBe('a.yaml:1:1 Realm a/b m\u202e')
  expect(children.map((each) => (typeof each === 'string' ? each : each.tag))).toEqual([
    'span',
    ' ',
    'span',
    ' ',
    'span',
  ])
})
