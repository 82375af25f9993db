// Generates responses of upstreams from a grammar: half of them as sound servers send them, half with something in them
// that some server has sent, or that an attacker would have one send.

import type { Random } from './fuzz.ts'

/** How often another than the usual is chosen in a response that is not sound. */
const ODDITY = 0.12

/** @example generateResponse(seededRandom(1)) // 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello' */
export const generateResponse = (random: Random): string =>
  new Generator(random, random() < 0.5 ? 0 : ODDITY).response()

class Generator {
  readonly #random: Random
  readonly #oddity: number

  constructor(random: Random, oddity: number) {
    this.#random = random
    this.#oddity = oddity
  }

  response(): string {
    const interim = this.#repeat(this.#random() < 0.1 ? 3 : 0, () => this.#interim())
    const head = `HTTP/${this.#version()} ${this.#status()}${this.#end()}${this.#repeat(4, () => this.#field())}`
    return interim + head + this.#body() + this.#repeat(this.#isOdd() ? 2 : 0, () => this.#after())
  }

  #interim(): string {
    const line = this.#pick(['100 Continue', '103 Early Hints', '102 '], ['101 Up', '199 x'])
    const fields = this.#repeat(1, () => this.#otherField())
    return `HTTP/${this.#version()} ${line}${this.#end()}${fields}${this.#end()}`
  }

  #body(): string {
    return this.#pick<() => string>(
      [
        () => `Content-Length: 5${this.#end()}${this.#end()}hello`,
        () => `Transfer-Encoding: chunked${this.#end()}${this.#end()}${this.#chunks()}`,
        () => `${this.#end()}${this.#text()}`,
      ],
      [
        () =>
          `${this.#framingField()}Transfer-Encoding: chunked${this.#end()}${this.#end()}${this.#chunks()}`,
        () => `${this.#framingField()}${this.#end()}${this.#text()}`,
        () => this.#text(),
      ],
    )()
  }

  #chunks(): string {
    const trailers = this.#repeat(1, () => (this.#isOdd() ? this.#field() : this.#otherField()))
    return `${this.#repeat(4, () => this.#chunk())}0${this.#repeat(1, () => this.#extension())}${this.#end()}${trailers}${this.#end()}`
  }

  #chunk(): string {
    const data = this.#repeat(6, () => this.#pick(['a', '\r\n', '0', '\r', '\0', '\n'])) || 'b'
    const size = this.#pick(
      [data.length.toString(16), `0${data.length.toString(16)}`],
      [
        '',
        'g',
        '0x1',
        '-1',
        '+1',
        'fffffffffffffffff',
        '1 ',
        ' 1',
        '1_0',
        (data.length + 1).toString(16),
      ],
    )
    const extensions = this.#repeat(this.#random() < 0.2 ? 2 : 0, () => this.#extension())
    return `${size}${extensions}${this.#end()}${data}${this.#end()}`
  }

  #extension(): string {
    return this.#pick(
      [';a', ';a=b', ';a="b c"', ';a="\\""'],
      [';', ';a=', '; a', ';a ;b', ' ', ';a="', ';=b', ';a="b"x', ';"a"', ';a=\n', ',a', ';a\r'],
    )
  }

  #field(): string {
    return this.#isOdd() ? this.#framingField() : this.#otherField()
  }

  #framingField(): string {
    const length = this.#pick(
      ['0', '2', '5', '007'],
      ['5 ', '-1', '+5', '5,5', '5, 5', '0x5', '', '5.', '\v5', '5\0', '99999999999999999999'],
    )
    const coding = this.#pick(
      ['chunked', 'Chunked'],
      [
        'gzip, chunked',
        'chunked, chunked',
        'chunked, identity',
        'identity',
        '',
        'xchunked',
        'chunked;q=1',
        ',chunked',
        '"chunked"',
        '\vchunked',
        'chunked\0',
      ],
    )
    return this.#pick(
      [`Content-Length: ${length}`, `Transfer-Encoding: ${coding}`, ` folded`],
      [
        `Content-Length : ${length}`,
        `Transfer-Encoding\t: ${coding}`,
        `Transfer-Encoding:\r\n ${coding}`,
        `X: 1\nTransfer-Encoding: ${coding}`,
        `Content_Length: ${length}`,
        '\t',
        'X-A',
      ],
    ).concat(this.#end())
  }

  #otherField(): string {
    const connection = this.#pick([' close', ' keep-alive', ' Close, x', ' x'], [' upgrade', ' ,'])
    const value = this.#pick(
      ['', ' ', ' x', '\tx\t', ' a, b ', ' "q"', ' \xe9', ' a  b', ' chunked'],
      ['\x01', ' a\0b', ' a\rb', ' \x7f'],
    )
    const name = this.#pick(
      ['X-A', 'x', 'Date', 'Keep-Alive', 'Set-Cookie', 'Trailer', '__proto__'],
      ['Upgrade', 'x y', '', 'X-A ', '\xe9', 'x(y'],
    )
    const line = this.#random() < 0.2 ? `Connection:${connection}` : `${name}:${value}`
    return line + this.#end()
  }

  #version(): string {
    return this.#pick(['1.1', '1.1', '1.1', '1.0'], ['2.0', '1.2', '0.9', '1.10', '1'])
  }

  #status(): string {
    return this.#pick(
      [
        '200 OK',
        '200 OK',
        '200 OK',
        '200',
        '204 No',
        '304 ',
        '404 Not \xe9',
        '205 R',
        '206 P',
        '600 x',
      ],
      ['100 Go', '101 Up', '99', '099 x', '2000 x', '20 x', '2a0 x', ' 200 OK'],
    )
  }

  #end(): string {
    return this.#random() < this.#oddity / 4
      ? this.#pick(['\n', '\r', '\r\r\n', '\n\r', ' \r\n', '\r\n\r\n', '', '\0\r\n'])
      : '\r\n'
  }

  #text(): string {
    return this.#repeat(5, () =>
      this.#pick(['a', 'hello', '\r\n', 'HTTP/1.1 200 OK\r\n', '0\r\n\r\n']),
    )
  }

  #after(): string {
    return this.#pick(['x', '\r\n', 'HTTP/1.1 200 OK\r\n\r\n', '\0'])
  }

  #pick<T>(usual: readonly [T, ...T[]], odd: readonly T[] = []): T {
    const list = odd.length > 0 && this.#isOdd() ? odd : usual
    return list[Math.floor(this.#random() * list.length)] ?? usual[0]
  }

  #isOdd(): boolean {
    return this.#random() < this.#oddity
  }

  #repeat(most: number, make: () => string): string {
    return Array.from({ length: Math.floor(this.#random() * (most + 1)) }, make).join('')
  }
}
