// Validates files as the operator and the gateways will, and prints every problem at once in the format that a person, a
// program or a CI service reads.

import {
  type FilesValidation,
  diagnosticLine,
  validationRecord,
  type ValidationDiagnostic,
} from '../validate/validation-diagnostic.ts'
import { printable } from '../../telemetry/printable.ts'
import { gatherFiles } from '../validate/gather-files.ts'
import { validateFiles } from '../validate/validate-files.ts'
import { type CommandIo, defineCommand } from '../command.ts'
import { diagnosticsForGitHub } from '../formats/github.ts'
import { diagnosticsAsJUnit, type IsFailure } from '../validate/diagnostics-junit.ts'
import { diagnosticsAsSarif } from '../formats/sarif.ts'
import { MAX_ROUTES_SETTING, OUTPUT_SETTING } from '../common-settings.ts'

const OUTPUTS = ['text', 'json', 'github', 'sarif', 'junit'] as const

type Output = (typeof OUTPUTS)[number]

export const validate = defineCommand(
  {
    program: 'svc validate',
    summary: 'lists what is wrong with documents and manifests; needs no gateway',
    operands: 'FILE|DIR|-…',
    envPrefix: 'SVC_VALIDATE_',
    settings: {
      output: { ...OUTPUT_SETTING.output, values: OUTPUTS },
      strict: {
        type: 'boolean',
        default: false,
        help: 'exit 1 for warnings too, also for what is not among the files',
        reason: 'pipelines that let no warning pass',
      },
      ...MAX_ROUTES_SETTING,
    },
    examples: [
      ['svc validate apis/', 'every manifest below a directory'],
      ['kustomize build . | svc validate -', 'what another program prints'],
      ['svc validate --strict -o github apis/', 'annotations in a pull request'],
    ],
  },
  async ({ settings: { output, strict, maxRoutes }, operands }, io) => {
    if (operands.length === 0) return fail(io, 'name the files to validate, or - for stdin')
    const gathered = await gatherFiles(operands, io.readStdin)
    if ('error' in gathered) return fail(io, gathered.error)
    const validation = validateFiles(gathered.files, maxRoutes)
    const isFailure: IsFailure = ({ severity }) => strict || severity === 'error'
    io.print(PRINTERS[output](validation, { isColoured: io.isColoured, isFailure }))
    const isEmpty = validation.documents + validation.realms === 0
    io.complain(`${summaryOf(validation)}\n`)
    const isNothing = validation.diagnostics.every(({ code }) => code === 'EmptyFile')
    if (isEmpty && isNothing)
      return fail(io, `there is no document and no Realm in ${operands.join(', ')}`)
    const failures = validation.diagnostics.filter(isFailure)
    if (failures.length > 0 && failures.every(({ severity }) => severity !== 'error'))
      io.complain('svc validate: this fails for warnings and notices, as --strict asks for\n')
    return failures.length > 0 ? 1 : 0
  },
)

const fail = (io: CommandIo, words: string): 2 => {
  io.complain(`svc validate: ${words}\n`)
  return 2
}

interface Printing {
  readonly isColoured: boolean
  readonly isFailure: IsFailure
}

const PRINTERS = {
  text: ({ diagnostics }, { isColoured }) =>
    lines(diagnostics.map((each) => textOf(each, isColoured))),
  json: (validation) => `${JSON.stringify(validationRecord(validation), null, 2)}\n`,
  github: ({ diagnostics }) => lines(diagnosticsForGitHub(diagnostics)),
  sarif: ({ diagnostics }) => `${JSON.stringify(diagnosticsAsSarif(diagnostics), null, 2)}\n`,
  junit: (validation, { isFailure }) => diagnosticsAsJUnit(validation, isFailure),
} as const satisfies Record<Output, (validation: FilesValidation, printing: Printing) => string>

const lines = (texts: readonly string[]): string => texts.map((text) => `${text}\n`).join('')

/** SGR codes: bold red, yellow, cyan. */
const COLOURS = { error: '1;31', warning: '33', notice: '36' } as const satisfies Record<
  ValidationDiagnostic['severity'],
  string
>

const textOf = (diagnostic: ValidationDiagnostic, isColoured: boolean): string => {
  const line = diagnosticLine(diagnostic)
  return isColoured ? `\u001B[${COLOURS[diagnostic.severity]}m${printable(line)}\u001B[0m` : line
}

/** @example '3 files with 2 documents, 1 realm: 1 error, 2 warnings' */
const summaryOf = ({ names, documents, realms, diagnostics }: FilesValidation): string => {
  const of = (wanted: ValidationDiagnostic['severity']): number =>
    diagnostics.filter(({ severity }) => severity === wanted).length
  const found = [count(of('error'), 'error'), count(of('warning'), 'warning')]
  if (of('notice') > 0) found.push(count(of('notice'), 'notice'))
  const held = [count(documents, 'document'), count(realms, 'realm')].join(', ')
  return `${count(names.length, 'file')} with ${held}: ${found.join(', ')}`
}

const count = (number: number, noun: string): string =>
  `${number} ${noun}${number === 1 ? '' : 's'}`
