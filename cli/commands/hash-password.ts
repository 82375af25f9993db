// Hashes a password from stdin for the users of a Realm.

import { hashPassword } from '../../dataplane/security/passwords/hash-password.ts'
import { defineCommand } from '../command.ts'

export const hash = defineCommand(
  {
    program: 'svc hash-password',
    summary: 'reads a password from stdin and prints its hash, for passwordHash of a Realm',
    envPrefix: 'SVC_HASH_PASSWORD_',
    settings: {},
    examples: [
      [
        'printf \'%s\' "$PASSWORD" | svc hash-password',
        'without the password in the history of the shell',
      ],
    ],
  },
  async (_, { readStdin, print, complain }) => {
    const password = (await readStdin()).replace(/\r?\n$/, '')
    if (password === '') {
      complain('svc hash-password: give the password on stdin\n')
      return 2
    }
    print(`${await hashPassword(password)}\n`)
    return 0
  },
)
