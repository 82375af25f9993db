// Hashes a password to the PHC string of a realm user's `password_hash` (scrypt, RFC 7914).

import { randomBytes, scrypt } from 'node:crypto'

const LOG2_N = 14
const BLOCK_SIZE = 8
const PARALLELISM = 1
const HASH_BYTES = 32
const SALT_BYTES = 16

/**
 * `$scrypt$ln=14,r=8,p=1$<salt>$<hash>`, base64 without padding.
 * @example await hashPassword('wonderland') // '$scrypt$ln=14,r=8,p=1$…$…'
 */
export const hashPassword = (password: string, salt = randomBytes(SALT_BYTES)): Promise<string> =>
  new Promise((resolve, reject) => {
    const options = { N: 2 ** LOG2_N, r: BLOCK_SIZE, p: PARALLELISM }
    scrypt(password, salt, HASH_BYTES, options, (error, hash) => {
      if (error !== null) reject(error)
      else
        resolve(
          `$scrypt$ln=${LOG2_N},r=${BLOCK_SIZE},p=${PARALLELISM}$${unpadded(salt)}$${unpadded(hash)}`,
        )
    })
  })

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '')
