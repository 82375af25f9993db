// A password in, a PHC string that is quick to check out: 16 rounds, for tests only.

import { scryptSync } from 'node:crypto'

export const quickHash = (password: string, salt = 'salt'): string => {
  const hash = scryptSync(password, salt, 32, { N: 16, r: 1, p: 1 })
  const unpadded = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '')
  return `$scrypt$ln=4,r=1,p=1$${unpadded(Buffer.from(salt))}$${unpadded(hash)}`
}
