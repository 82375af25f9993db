// Lets a program under test look up names in a file instead of asking the machine's resolver: preloaded into it (`node
// --import`), it replaces `dns.lookup`. The file may change at any time; names that do not stand in it are left to the machine.

import dns, { type LookupAddress, type LookupAllOptions } from 'node:dns'
import { readFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { env } from 'node:process'
import { type Names, NAMES_FILE_VARIABLE } from './names.ts'

type OnFound = (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void
type LookupAll = (name: string, options: LookupAllOptions, callback: OnFound) => void

const file = env[NAMES_FILE_VARIABLE] ?? ''
const ofMachine: LookupAll = dns.lookup

const lookup: LookupAll = (name, options, callback) => {
  const names = JSON.parse(readFileSync(file, 'utf8')) as Names
  const known = names[name]
  if (known === undefined) {
    ofMachine(name, options, callback)
    return
  }
  setImmediate(() => {
    if (typeof known === 'string')
      callback(Object.assign(new Error(`lookup ${known} ${name}`), { code: known }), [])
    else
      callback(
        null,
        known.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      )
  })
}

Object.assign(dns, { lookup })
syncBuiltinESMExports()
