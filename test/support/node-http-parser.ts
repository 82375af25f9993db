// Reads responses with the HTTP parser of Node itself (llhttp), byte by byte, and notes at which byte each thing happened:
// a second opinion on what is valid and where a response ends.

interface NodeParser {
  initialize(type: number, resource: object, maxHeaderBytes: number, lenientFlags: number): void
  execute(bytes: Buffer): number | Error
  finish(): Error | undefined
  [callback: number]: (...args: never[]) => unknown
}

interface NodeParserClass {
  new (): NodeParser
  readonly RESPONSE: number
  readonly kLenientNone: number
  readonly kOnHeaders: number
  readonly kOnHeadersComplete: number
  readonly kOnBody: number
  readonly kOnMessageComplete: number
}

const { HTTPParser } = process.getBuiltinModule('node:_http_common') as unknown as {
  readonly HTTPParser: NodeParserClass
}

/** Larger than what is read: our own limits are stricter. */
const MAX_HEADER_BYTES = 1024 * 1024
const SKIP_BODY = 1
/** What follows is no HTTP any more. */
const UPGRADE = 2

export interface NodeReading {
  /** Bytes up to the end of the final head. */
  readonly headAt: number | undefined
  readonly statusCode: number | undefined
  /** name, value, name, value; names in lower case */
  readonly headers: readonly string[]
  /** Bytes up to the end of the final response; if the connection ends it, all. */
  readonly endAt: number | undefined
  /** Bytes up to the first that it refuses. */
  readonly faultAt: number | undefined
  /** In Latin-1. */
  readonly body: string
}

/** @param closes the upstream closes the connection after the bytes */
export const readWithNode = (bytes: Buffer, method: string, closes: boolean): NodeReading =>
  new Reader(method).read(bytes, closes)

/** Used again, as Node does itself: those that are given up are collected late, and millions would not be in time. */
const parser = new HTTPParser()

class Reader {
  readonly #seen: { -readonly [Key in keyof NodeReading]: NodeReading[Key] } = {
    headAt: undefined,
    statusCode: undefined,
    headers: [],
    endAt: undefined,
    faultAt: undefined,
    body: '',
  }
  #headers: string[] = []
  #at = 0

  constructor(method: string) {
    parser.initialize(HTTPParser.RESPONSE, {}, MAX_HEADER_BYTES, HTTPParser.kLenientNone)
    parser[HTTPParser.kOnHeaders] = (some: string[]) => {
      this.#headers.push(...some)
    }
    parser[HTTPParser.kOnHeadersComplete] = (...head: HeadArguments) => this.#onHead(head, method)
    parser[HTTPParser.kOnBody] = (some: Buffer) => {
      this.#seen.body += some.toString('latin1')
    }
    parser[HTTPParser.kOnMessageComplete] = () => {
      if (this.#seen.headAt !== undefined) this.#seen.endAt ??= this.#at
    }
  }

  read(bytes: Buffer, closes: boolean): NodeReading {
    const seen = this.#seen
    while (this.#at < bytes.length && !this.#isOver()) {
      this.#at++
      // In jest an error of Node's own is of another realm than the class that tests see.
      if (typeof parser.execute(bytes.subarray(this.#at - 1, this.#at)) !== 'number')
        seen.faultAt = this.#at
    }
    if (closes && !this.#isOver() && parser.finish() !== undefined) seen.faultAt = this.#at
    return seen
  }

  #isOver(): boolean {
    return this.#seen.endAt !== undefined || this.#seen.faultAt !== undefined
  }

  #onHead([, , some, , , status, , isUpgrade]: HeadArguments, method: string): number {
    const headers = [...this.#headers, ...(some ?? [])]
    // What follows are trailers, or the fields of another head.
    this.#headers = []
    if (isUpgrade) return UPGRADE
    if (status < 200) return 0
    this.#seen.statusCode = status
    this.#seen.headAt = this.#at
    this.#seen.headers = headers.map((each, at) => (at % 2 === 0 ? each.toLowerCase() : each))
    return method === 'HEAD' ? SKIP_BODY : 0
  }
}

type HeadArguments = [
  major: number,
  minor: number,
  headers: string[] | undefined,
  method: unknown,
  url: unknown,
  status: number,
  reason: unknown,
  isUpgrade: boolean,
]
