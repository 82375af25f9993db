// Speaks with yaml-language-server, which most editors run for YAML, as an editor does (LSP 3.17 over stdio).

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const PROGRAM = join(
  import.meta.dirname,
  '../../node_modules/yaml-language-server/bin/yaml-language-server',
)

export interface Diagnostic {
  readonly message: string
  readonly range: { readonly start: { readonly line: number; readonly character: number } }
}

interface Message {
  readonly id?: number
  readonly method?: string
  readonly result?: unknown
  readonly params?: { readonly uri?: string; readonly diagnostics?: readonly Diagnostic[] }
}

export class LanguageServer implements AsyncDisposable {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #pending = new Map<number, (result: unknown) => void>()
  readonly #diagnosed = new Map<string, (diagnostics: readonly Diagnostic[]) => void>()
  readonly #yaml: object
  readonly #configured = Promise.withResolvers<undefined>()
  #buffer = Buffer.alloc(0)
  #next = 1

  /** @param schemaFile the schema of every file that is opened */
  static async start(schemaFile: string): Promise<LanguageServer> {
    const server = new LanguageServer({
      schemas: { [pathToFileURL(schemaFile).href]: ['*.yaml'] },
      schemaStore: { enable: false },
      validate: true,
      completion: true,
    })
    const capabilities = { workspace: { configuration: true } }
    await server.#request('initialize', { processId: null, rootUri: null, capabilities })
    server.#notify('initialized', {})
    server.#notify('workspace/didChangeConfiguration', { settings: {} })
    await server.#configured.promise
    return server
  }

  private constructor(yaml: object) {
    this.#yaml = yaml
    this.#child = spawn(process.execPath, [PROGRAM, '--stdio'])
    this.#child.stdout.on('data', (chunk: Buffer) => {
      this.#receive(chunk)
    })
    this.#child.stderr.resume()
  }

  /** What is underlined in a file. */
  async diagnose(name: string, text: string): Promise<readonly Diagnostic[]> {
    const uri = uriOf(name)
    const diagnosed = new Promise<readonly Diagnostic[]>((resolve) => {
      this.#diagnosed.set(uri, resolve)
    })
    this.#open(uri, text)
    return await diagnosed
  }

  /** Labels that are offered where `|` stands in the text. */
  async complete(name: string, marked: string): Promise<readonly string[]> {
    const at = marked.indexOf('|')
    const before = marked.slice(0, at).split('\n')
    const position = { line: before.length - 1, character: before.at(-1)?.length ?? 0 }
    const uri = uriOf(name)
    this.#open(uri, marked.slice(0, at) + marked.slice(at + 1))
    const response = await this.#request('textDocument/completion', {
      textDocument: { uri },
      position,
    })
    return (response as { items: readonly { label: string }[] }).items.map(({ label }) => label)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill()
    if (this.#child.exitCode === null && this.#child.signalCode === null)
      await once(this.#child, 'exit')
  }

  #open(uri: string, text: string): void {
    const textDocument = { uri, languageId: 'yaml', version: 1, text }
    this.#notify('textDocument/didOpen', { textDocument })
  }

  #request(method: string, params: object): Promise<unknown> {
    const id = this.#next++
    return new Promise((resolve) => {
      this.#pending.set(id, resolve)
      this.#send({ id, method, params })
    })
  }

  #notify(method: string, params: object): void {
    this.#send({ method, params })
  }

  #send(message: object): void {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message })
    this.#child.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  }

  #receive(chunk: Buffer): void {
    this.#buffer = Buffer.concat([this.#buffer, chunk])
    for (;;) {
      const headEnd = this.#buffer.indexOf('\r\n\r\n')
      const length = Number(/Content-Length: (\d+)/i.exec(this.#buffer.toString('latin1'))?.[1])
      if (headEnd === -1 || this.#buffer.length < headEnd + 4 + length) return
      const body = this.#buffer.subarray(headEnd + 4, headEnd + 4 + length)
      this.#buffer = this.#buffer.subarray(headEnd + 4 + length)
      this.#handle(JSON.parse(body.toString()) as Message)
    }
  }

  #handle({ id, method, result, params }: Message): void {
    if (method === 'textDocument/publishDiagnostics')
      this.#diagnosed.get(params?.uri ?? '')?.(params?.diagnostics ?? [])
    else if (method === 'workspace/configuration') {
      // Of the sections yaml, http, [yaml] and editor.
      this.#send({ id, result: [this.#yaml, {}, {}, {}] })
      this.#configured.resolve(undefined)
    } else if (method !== undefined && id !== undefined) this.#send({ id, result: null })
    else if (id !== undefined) this.#pending.get(id)?.(result)
  }
}

const uriOf = (name: string): string => pathToFileURL(join('/nowhere', name)).href
