// A password hash that is made in no time, for records of tests.

import { scryptSync } from 'node:crypto'

export const cheapHash = (password: string): string => {
  const salt = Buffer.alloc(16, 1)
  const made = scryptSync(password, salt, 32, { N: 2, r: 1, p: 1 })
  const text = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '')
  return `$scrypt$ln=1,r=1,p=1$${text(salt)}$${text(made)}`
}
