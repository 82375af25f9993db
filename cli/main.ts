#!/usr/bin/env node
// Starts `svc`, the command line for people who write documents: it finds the command and runs it. Keeps nothing running:
// gateways and operators are programs of their own.

import '../telemetry/require-node.ts'
import { text } from 'node:stream/consumers'
import { messageOf } from '../base/thrown.ts'
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

// `svc routes | head` closes the pipe early: that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit(process.exitCode ?? 0)
})

run().catch((error: unknown) => {
  process.stderr.write(`svc: ${messageOf(error)}\n`)
  process.exit(2)
})
