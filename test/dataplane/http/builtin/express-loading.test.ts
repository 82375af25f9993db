// Express is loaded for a login, and for nothing that needs none: it takes time and memory of every process.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from '@jest/globals'
import { programEnvironment } from '../../../support/program-environment.ts'

const PROGRAM = join(import.meta.dirname, 'express-program.ts')

it('Express is loaded by the first login, not by verify, OPTIONS, public keys or what is refused', async () => {
  const asked = [
    'GET /v1/oidc/verify',
    'HEAD /v1/oidc/verify',
    'OPTIONS /v1/oidc/login',
    'GET /.well-known/jwks.json',
    'POST /v1/oidc/login',
    'GET /v1/oidc/login',
  ]
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, ...asked], {
    env: programEnvironment(),
  })
  expect(stdout.trim().split('\n')).toEqual([
    'GET /v1/oidc/verify 200 nothing',
    'HEAD /v1/oidc/verify 200 nothing',
    'OPTIONS /v1/oidc/login 204 nothing',
    'GET /.well-known/jwks.json 200 nothing',
    'POST /v1/oidc/login 405 nothing',
    'GET /v1/oidc/login 302 Express',
  ])
})
