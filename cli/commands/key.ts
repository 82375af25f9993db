// Makes an API key, and prints it with the hash that a Realm has of it.

import { randomBytes } from 'node:crypto'
import { defineCommand } from '../command.ts'
import { OUTPUT_SETTING } from '../common-settings.ts'
import { newApiKey } from '../new-api-key.ts'

export const key = defineCommand(
  {
    program: 'svc key',
    summary: 'makes an API key, shown once, and prints its hash for apiKeys of a Realm',
    operands: 'new',
    envPrefix: 'SVC_KEY_',
    settings: {
      output: {
        ...OUTPUT_SETTING.output,
        values: ['text', 'json', 'yaml'],
        help: 'how the result is printed; yaml has the hash alone, and the key goes to stderr',
      },
    },
    examples: [
      ['svc key new', 'a key to give away, and keySha256 for the Realm'],
      ['svc key new -o yaml >> realm-keys.yaml', 'the key on the terminal, its hash in a file'],
    ],
  },
  ({ settings, operands }, { print, complain, fail }) => {
    if (operands.length !== 1 || operands[0] !== 'new')
      return fail('write svc key new: there is nothing else to do with keys here')
    const made = newApiKey(randomBytes(32))
    if (settings.output === 'json') print(`${JSON.stringify(made, null, 2)}\n`)
    else if (settings.output === 'yaml') {
      complain(`the key, which is shown this once: ${made.key}\n`)
      print(`keySha256: ${made.keySha256}\n`)
    } else {
      print(`key        ${made.key}\nkeySha256  ${made.keySha256}\n`)
      complain(
        'the key is shown this once: give it to the caller, and put keySha256 into the Realm\n',
      )
    }
    return 0
  },
)
