// Runs a gateway and its operator over a directory, or a file, in one terminal: for a laptop, for CI, for a single machine.
// They start and end together.

import { describeEvent } from '../serve/events.ts'
import { lastWords, type OnLine, settled, startGateway, startOperator } from '../serve/planes.ts'
import type { Program, StopSignal } from '../serve/program.ts'
import { findUnserved, servedText } from '../serve/served-text.ts'
import type { StatusView } from '../serve/status-view.ts'
import { messageOf } from '../../base/thrown.ts'
import { type CommandContext, defineCommand, type ExitCode } from '../command.ts'
import { OUTPUT_SETTING } from '../common-settings.ts'

/** The owner of the gateway: nothing else loads documents into it. */
const MANAGER = 'svc-serve'

const TABLE = {
  program: 'svc serve',
  summary:
    'serves manifests: a gateway and its operator, in one terminal. Ends with 1 if something of them cannot be served',
  operands: 'DIR|FILE',
  envPrefix: 'SVC_SERVE_',
  settings: {
    public: {
      type: 'string',
      default: '127.0.0.1:18080',
      placeholder: 'ADDRESS',
      help: 'address where clients connect in plain HTTP',
      reason: 'machines that others reach, and ports that are taken',
    },
    management: {
      type: 'string',
      default: '127.0.0.1:18081',
      placeholder: 'ADDRESS',
      help: 'address of the management API of the gateway, on loopback',
      reason: 'ports that are taken',
    },
    status: {
      type: 'string',
      default: '127.0.0.1:18085',
      placeholder: 'ADDRESS',
      help: 'address of the web page: documents, routes, failures',
      reason: 'ports that are taken',
    },
    'state-dir': {
      type: 'string',
      default: null,
      placeholder: 'DIR',
      help: 'where the gateway keeps what it serves, for its next start; without it nothing is written',
      reason: 'machines whose gateway has to serve what was valid when it restarts',
    },
    partial: {
      type: 'boolean',
      default: false,
      help: 'at the start too, serve what is valid and go on without the rest',
      reason: 'services that start unattended: one file with a mistake ends none of the others',
    },
    output: {
      ...OUTPUT_SETTING.output,
      help: 'text: changes and requests that fail; json: the logs of both as they are',
    },
  },
  examples: [
    ['svc serve apis/', 'http://127.0.0.1:18080; saved changes are served at once'],
    [
      'svc serve --public 0.0.0.0:8080 --state-dir /var/lib/svc --partial -o json apis/',
      'as a service of a machine',
    ],
  ],
} as const

export const serve = defineCommand(TABLE, async ({ settings, operands }, io) => {
  const [manifests] = operands
  if (manifests === undefined || operands.length > 1)
    return io.fail('name one directory with manifests, or one file')
  const programs: Program[] = []
  const stopping = new AbortController()
  let stopped: Promise<unknown> | undefined
  const stop = (signal: StopSignal): Promise<unknown> => {
    stopping.abort()
    stopped = Promise.all(programs.map((program) => program.stop(signal)))
    return stopped
  }
  const signals = onSignals((signal) => void stop(signal))
  const onLine = printing(settings.output, io)
  try {
    const gateway = startGateway(
      [
        '--public',
        settings.public,
        '--management',
        settings.management,
        '--managed',
        MANAGER,
        ...(settings.stateDir === null ? [] : ['--state-dir', settings.stateDir]),
        ...(settings.output === 'text' ? ['--access-log', 'on'] : []),
      ],
      onLine,
    )
    programs.push(gateway.program)
    const urls = await gateway.listening
    const operator = startOperator(
      [
        '--manifests',
        manifests,
        '--data-planes',
        urls.management,
        '--manager',
        MANAGER,
        '--status',
        settings.status,
      ],
      onLine,
    )
    programs.push(operator.program)
    const page = await operator.listening
    const status = await settled(page, operator.program, stopping.signal)
    if (status !== undefined) {
      const refusal = refusalOf(status, { manifests, isPartial: settings.partial })
      if (refusal !== undefined) {
        // Its words are the last ones: what the programs say when they end comes before.
        await stop('SIGINT')
        io.complain(`svc serve: ${refusal.words}\n`)
        return refusal.code
      }
      io.complain(`svc serve: ${servedText(status, { public: urls.public, page })}\n`)
    }
    const ended = await Promise.race(programs.map(lastWords))
    throw new Error(ended)
  } catch (error) {
    const isWanted = stopped !== undefined
    // No second signal: it would cut off the requests that finish.
    await (stopped ?? stop('SIGINT'))
    return isWanted ? 0 : io.fail(messageOf(error))
  } finally {
    signals.off()
  }
})

interface Refusal {
  readonly code: ExitCode
  readonly words: string
}

/** @returns undefined: it may go on */
const refusalOf = (
  status: StatusView,
  { manifests, isPartial }: { readonly manifests: string; readonly isPartial: boolean },
): Refusal | undefined => {
  if (status.resources.length === 0 && status.notes.length === 0)
    return { code: 2, words: `there is no document and no Realm in ${manifests}` }
  const unserved = findUnserved(status)
  if (unserved === undefined || isPartial) return undefined
  return { code: 1, words: `${unserved}: mend it, or serve the rest with --partial` }
}

const printing = (output: 'text' | 'json', { print }: CommandContext): OnLine =>
  output === 'json'
    ? (_, line) => {
        print(`${line}\n`)
      }
    : (program, line) => {
        const event = describeEvent(program, line, new Date())
        if (event !== undefined) print(`${event}\n`)
      }

/** A second one of them goes on to the programs too, which end at once then. */
const onSignals = (stop: (signal: StopSignal) => void): { readonly off: () => void } => {
  const interrupt = (): void => {
    stop('SIGINT')
  }
  const terminate = (): void => {
    stop('SIGTERM')
  }
  process.on('SIGINT', interrupt).on('SIGHUP', interrupt).on('SIGTERM', terminate)
  return {
    off: () => {
      process.off('SIGINT', interrupt).off('SIGHUP', interrupt).off('SIGTERM', terminate)
    },
  }
}
