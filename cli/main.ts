#!/usr/bin/env node
// Starts `svc`, the command line for people who write documents: it finds the command and runs it. Keeps nothing running:
// gateways and operators are programs of their own.

import '../telemetry/require-node.ts'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { messageOf } from '../base/thrown.ts'
import { printableMessage } from '../telemetry/printable.ts'
import { runSvc } from './svc.ts'

const run = async (): Promise<void> => {
  process.exitCode = await runSvc(process.argv.slice(2), {
    readStdin: () => text(process.stdin),
    print: (lines) => process.stdout.write(lines),
    complain: (lines) => process.stderr.write(lines),
    env: process.env,
    isColoured: process.stdout.isTTY && !process.env['NO_COLOR'],
  })
}

/** The package of the checkout, as npm names it to the scripts in it. */
const PACKAGE = join(import.meta.dirname, '../package.json')

// `npm run svc` changes to the checkout first: paths are meant as they stand where npm was called.
const {
  npm_lifecycle_event: script,
  npm_package_json: packageFile,
  INIT_CWD: calledIn,
} = process.env
if (script === 'svc' && packageFile === PACKAGE && calledIn !== undefined) process.chdir(calledIn)

// `svc routes | head` closes the pipe early: that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit(process.exitCode ?? 0)
})

run().catch((error: unknown) => {
  process.stderr.write(printableMessage(`svc: ${messageOf(error)}\n`))
  process.exit(2)
})
