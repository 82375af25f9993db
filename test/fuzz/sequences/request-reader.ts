// Reads the requests of one connection strictly, piece by piece: anything else than a request where one is due, and a
// body that is framed in another way than its head says, is a fault of the client.

export interface RequestEvents {
  onHead(path: string): void
  onBody(bytes: Buffer): void
  onEnd(): void
}

type Phase = 'head' | 'sized' | 'chunk size' | 'chunk' | 'chunk end' | 'last line'

export class RequestReader {
  readonly #events: RequestEvents
  #held: Buffer = Buffer.alloc(0)
  #phase: Phase = 'head'
  #left = 0

  constructor(events: RequestEvents) {
    this.#events = events
  }

  /** @throws Error for what is no request */
  feed(bytes: Buffer): void {
    this.#held = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes])
    while (this.#step());
  }

  #step(): boolean {
    switch (this.#phase) {
      case 'head':
        return this.#readHead()
      case 'sized':
        return this.#readData('head')
      case 'chunk size':
        return this.#readSize()
      case 'chunk':
        return this.#readData('chunk end')
      case 'chunk end':
        return this.#readEmptyLine('chunk size')
      case 'last line':
        return this.#readEmptyLine('head')
    }
  }

  #readHead(): boolean {
    const text = this.#upTo('\r\n\r\n')
    if (text === undefined) return false
    const { path, bytes } = readHead(text)
    this.#events.onHead(path)
    this.#left = bytes ?? 0
    this.#phase = bytes === undefined ? 'chunk size' : 'sized'
    if (bytes === 0) this.#end()
    return true
  }

  #readData(next: Phase): boolean {
    const bytes = this.#held.subarray(0, this.#left)
    if (bytes.length === 0) return false
    this.#held = this.#held.subarray(bytes.length)
    this.#left -= bytes.length
    this.#events.onBody(bytes)
    if (this.#left > 0) return false
    if (next === 'head') this.#end()
    else this.#phase = next
    return true
  }

  #readSize(): boolean {
    const text = this.#upTo('\r\n')
    if (text === undefined) return false
    if (!/^[0-9a-f]{1,8}$/.test(text)) throw new Error(`a chunk begins with ${text.slice(0, 60)}`)
    this.#left = parseInt(text, 16)
    this.#phase = this.#left === 0 ? 'last line' : 'chunk'
    return true
  }

  #readEmptyLine(next: Phase): boolean {
    if (this.#held.length < 2) return false
    if (this.#upTo('\r\n') !== '') throw new Error('a chunk is longer than its size')
    if (next === 'head') this.#end()
    else this.#phase = next
    return true
  }

  #end(): void {
    this.#phase = 'head'
    this.#events.onEnd()
  }

  #upTo(mark: string): string | undefined {
    const at = this.#held.indexOf(mark)
    if (at < 0) return undefined
    const text = this.#held.toString('latin1', 0, at)
    this.#held = this.#held.subarray(at + mark.length)
    return text
  }
}

interface Head {
  readonly path: string
  /** Of the body; undefined: it comes in chunks. */
  readonly bytes: number | undefined
}

const readHead = (text: string): Head => {
  const [line = '', ...fields] = text.split('\r\n')
  const path = /^[A-Z]+ (\/\S*) HTTP\/1\.1$/.exec(line)?.[1]
  if (path === undefined) throw new Error(`this was sent for a request: ${line.slice(0, 60)}`)
  const headers = new Map(fields.map((each) => pairOf(each)))
  if (headers.size !== fields.length) throw new Error(`a header came twice: ${text}`)
  const length = headers.get('content-length')
  const coding = headers.get('transfer-encoding')
  if (coding === undefined) return { path, bytes: Number(length ?? 0) }
  if (coding !== 'chunked' || length !== undefined) throw new Error(`ill framed: ${text}`)
  return { path, bytes: undefined }
}

const pairOf = (line: string): readonly [name: string, value: string] => {
  const [, name = '', value = ''] = /^([a-z-]+): (.*)$/i.exec(line) ?? []
  if (name === '') throw new Error(`no header: ${line.slice(0, 60)}`)
  return [name.toLowerCase(), value]
}
