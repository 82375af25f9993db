// Lists the commands of `svc`. A command is loaded when it is run: `svc schema` need not load what compiles documents.

import type { Command, CommandEntry } from './command.ts'

/** In the order of the overview. */
export const COMMANDS = {
  init: {
    summary: 'write a first document, editor settings and a CI job',
    load: async () => (await import('./commands/init.ts')).init,
  },
  validate: {
    summary: 'list what is wrong with documents and manifests',
    load: async () => (await import('./commands/validate.ts')).validate,
  },
  test: {
    summary: 'run the examples of documents, without a gateway',
    load: async () => (await import('./commands/test.ts')).testExamples,
  },
  serve: {
    summary: 'serve files: a gateway and its operator in one terminal',
    load: async () => (await import('./commands/serve.ts')).serve,
  },
  mock: {
    summary: 'serve documents by their examples on loopback',
    load: async () => (await import('./commands/mock.ts')).mock,
  },
  routes: {
    summary: 'list the routes of files or of a gateway',
    load: async () => (await import('./commands/routes.ts')).routes,
  },
  explain: {
    summary: 'say which route takes a request, and why',
    load: async () => (await import('./commands/explain.ts')).explain,
  },
  why: {
    summary: 'say how a request was decided, afterwards',
    load: async () => (await import('./commands/why.ts')).why,
  },
  diff: {
    summary: 'compare files with a gateway or cluster; find loosened security',
    load: async () => (await import('./commands/diff.ts')).diff,
  },
  apply: {
    summary: 'apply files to a cluster, and wait until the gateways serve them',
    load: async () => (await import('./commands/apply.ts')).apply,
  },
  status: {
    summary: 'say which APIs are served, and what is wrong with the others',
    load: async () => (await import('./commands/status.ts')).status,
  },
  import: {
    summary: 'write what a gateway serves as manifests',
    load: async () => (await import('./commands/import.ts')).importGateway,
  },
  openapi: {
    summary: 'write the OpenAPI description of a version',
    load: async () => (await import('./commands/openapi.ts')).openapi,
  },
  'import-openapi': {
    summary: 'write an OpenAPI description as a document',
    load: async () => (await import('./commands/import-openapi.ts')).importOpenapi,
  },
  schema: {
    summary: 'print the JSON Schema for editors',
    load: async () => (await import('./commands/schema.ts')).schema,
  },
  'hash-password': {
    summary: 'hash a password for a Realm',
    load: async () => (await import('./commands/hash-password.ts')).hash,
  },
  key: {
    summary: 'make an API key, and its hash for a Realm',
    load: async () => (await import('./commands/key.ts')).key,
  },
  completion: {
    summary: 'print the completion script of a shell',
    // Its type is written out, as it refers to the whole table.
    load: async (): Promise<Command> =>
      (await import('./commands/completion.ts')).createCompletion(() => COMMANDS),
  },
  version: {
    summary: 'print the version of svc and of Node',
    load: async () => (await import('./commands/version.ts')).version,
  },
} as const satisfies Readonly<Record<string, CommandEntry>>

export type CommandName = keyof typeof COMMANDS

export const isCommandName = (word: string): word is CommandName => Object.hasOwn(COMMANDS, word)
