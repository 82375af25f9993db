// The forms of values that the chart goes by, against the functions by which the programs validate: it lets through all that
// they take, and of what no person would write otherwise nothing that they refuse.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { parse } from 'yaml'
import { SETTINGS as GATEWAY } from '../../dataplane/config.ts'
import { isCidr, isDestination, isPort } from '../../dataplane/settings/values.ts'
import { SETTINGS as OPERATOR } from '../../operator/config.ts'
import type { Setting } from '../../telemetry/settings-table.ts'
import { parseValue } from '../../telemetry/settings-value.ts'
import { CHART_VALUES, FORMS } from '../support/chart-flags.ts'
import { CHART } from '../support/helm.ts'

const matches = (form: keyof typeof FORMS, text: string): boolean =>
  new RegExp(FORMS[form]).test(text)

const TEXTS = [
  '10.0.0.0/8',
  '10.0.0.0/33',
  '10.0.0.0/032',
  '10.0.0.1',
  '10.0.0',
  '256.1.1.1',
  '01.2.3.4',
  '::',
  '::1',
  '::1/128',
  '::1/129',
  'fd00::/8',
  'fd00:::/8',
  '1:2:3:4:5:6:7:8',
  '1:2:3:4:5:6:7',
  '1:2:3:4:5:6:7:8:9',
  '::ffff:10.0.0.1/96',
  '1::10.0.0.300',
  'fe80::1%eth0/64',
  '10.0.0.0/8/8',
  '',
  '/',
  '/8',
  '10.0.0.0/',
  '10.0.0.0/-1',
  'example.test',
  '*.Example.test.',
  '*',
  '*.',
  'a..b',
  'nonsense///',
  'a_b.c-d',
  '1.2.3.4.5',
  'a b',
  '0',
  '80',
  '080',
  '65536',
  '99999',
  '123456',
]

const ADDRESS = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  fc
    .array(fc.constantFrom('::', ':', '1', 'ff', '0.0.0.0', '%a', '.'), { maxLength: 9 })
    .map((parts) => parts.join('')),
)
const CIDR = fc
  .tuple(ADDRESS, fc.option(fc.integer({ min: 0, max: 140 })))
  .map(([address, prefix]) => (prefix === null ? address : `${address}/${prefix}`))

describe('the forms of the chart', () => {
  it.each(TEXTS)('are those of the programs: %j', (text) => {
    expect(matches('cidr', text)).toBe(isCidr(text))
    expect(matches('network', text)).toBe(isCidr(text) && text.includes('/'))
    expect(matches('destination', text)).toBe(isDestination(text))
    expect(isPort(text) && !matches('port', text)).toBe(false)
  })

  it('are those of the programs for any address', () => {
    fc.assert(
      fc.property(CIDR, (text) => {
        expect(matches('cidr', text)).toBe(isCidr(text))
        expect(matches('destination', text)).toBe(isDestination(text))
      }),
      { numRuns: 5000 },
    )
  })

  it.each([
    ['address', { type: 'address', default: null, help: '' }],
    ['boolean', { type: 'boolean', default: false, help: '' }],
    ['integer', { type: 'integer', default: 0, min: -1e15, help: '' }],
    ['number', { type: 'number', default: 0, min: -1e15, help: '' }],
    ['duration', { type: 'duration', default: 0, help: '' }],
  ] as const satisfies readonly (readonly [keyof typeof FORMS, Setting])[])(
    '%s: all that is a value passes',
    (form, setting) => {
      const parts = [
        'unix:',
        '/',
        '[',
        '::1',
        ']',
        ':',
        '80',
        'a.b',
        '-',
        '.',
        '5',
        'ms',
        'On',
        'no',
      ]
      fc.assert(
        fc.property(fc.array(fc.constantFrom(...parts), { maxLength: 6 }), (words) => {
          const text = words.join('')
          const isRefused = parseValue(setting, text) !== undefined && !matches(form, text)
          expect(isRefused).toBe(false)
        }),
        { numRuns: 5000 },
      )
    },
  )
})

describe('where the chart has a value for a flag', () => {
  const values: unknown = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8'))
  const at = (path: string): unknown =>
    path
      .split('.')
      .reduce<unknown>((value, key) => (value as Readonly<Record<string, unknown>>)[key], values)

  it.each([
    ['gateway', CHART_VALUES.gateway, GATEWAY.settings],
    ['operator', CHART_VALUES.operator, OPERATOR.settings],
  ] as const)('of the %s both are there', (_part, flags, settings) => {
    for (const [flag, path] of Object.entries(flags)) {
      expect(Object.keys(settings)).toContain(flag)
      expect(at(path)).toBeDefined()
    }
  })
})
