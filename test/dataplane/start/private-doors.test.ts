// What the gateway uses of Node without a public name, and what a start says where it is missing.

import { expect, it } from '@jest/globals'
import {
  checkPrivateDoors,
  PRIVATE_DOORS,
  type PrivateDoor,
} from '../../../dataplane/start/private-doors.ts'
import { StartError } from '../../../dataplane/start-error.ts'
import { createLog } from '../../../telemetry/log.ts'

const linesOf = (doors: readonly PrivateDoor[]): readonly object[] => {
  const lines: object[] = []
  const destination = { write: (line: string) => lines.push(JSON.parse(line) as object) }
  checkPrivateDoors(createLog({ level: 'info', name: 'test', destination }), doors)
  return lines
}

const without = (name: string): readonly PrivateDoor[] =>
  PRIVATE_DOORS.map((door) => (door.name === name ? { ...door, isThere: () => false } : door))

it('this version of Node has all of them', () => {
  expect(linesOf(PRIVATE_DOORS)).toEqual([])
})

it.each(PRIVATE_DOORS.filter(({ isVital }) => isVital))(
  'a gateway does not start without $name',
  ({ name, missing }) => {
    expect(() => linesOf(without(name))).toThrow(StartError)
    expect(() => linesOf(without(name))).toThrow(`lacks ${name}, without which ${missing}`)
  },
)

it.each(PRIVATE_DOORS.filter(({ isVital }) => !isVital))(
  'a gateway without $name says so once, and starts',
  ({ name, missing }) => {
    expect(linesOf(without(name))).toMatchObject([
      { level: 'warn', node: process.version, lacks: [`${name}: ${missing}`] },
    ])
  },
)
