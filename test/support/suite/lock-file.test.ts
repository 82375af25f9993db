import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from '@jest/globals'

interface LockedPackage {
  readonly integrity?: string
  readonly resolved?: string
}

const { packages } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../package-lock.json'), 'utf8'),
) as { readonly packages: Readonly<Record<string, LockedPackage>> }
const { '': root, ...installed } = packages

it('the lock file says what each package must hash to, whichever registry it comes from', () => {
  expect(root).toBeDefined()
  const wrong = Object.entries(installed).filter(
    ([, { integrity = '', resolved }]) =>
      !/^sha512-[\w+/]{86}==$/.test(integrity) || resolved !== undefined,
  )
  expect(wrong.map(([path]) => path)).toEqual([])
})
