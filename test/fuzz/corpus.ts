// Inputs that the fuzzer, or somebody, found a fault with: each run checks them first.

interface EarlierFailure {
  readonly target: string
  /** What was wrong. */
  readonly why: string
  readonly input: Buffer
}

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1')

export const EARLIER_FAILURES: readonly EarlierFailure[] = [
  {
    target: 'manifests',
    why: 'a list that holds itself, under a merge key, was followed until the stack was full',
    input: latin1(': &a [*a]\n<<: [*a,]'),
  },
  {
    target: 'request-heads',
    why: 'a request behind a head that was refused for its many lines was forwarded, and its response was lost',
    input: latin1(
      `GET /a HTTP/1.1\r\nHost: a\r\n${'X: y\r\n'.repeat(128)}\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n`,
    ),
  },
  {
    target: 'request-heads',
    why: 'what came in one piece with an upgrade that is none was dropped without a word',
    input: latin1('GET /u HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade:3\r\n\r\n'),
  },
  {
    target: 'request-heads',
    why: 'a body that broke off behind its response was answered again',
    input: latin1('PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n'),
  },
  {
    target: 'admission-reviews',
    why: 'a control character of an annotation stood in a warning, which travels in a header',
    input: latin1(
      '{"apiVersion":"admission.k8s.io/v1","request":{"uid":"1","operation":"CREATE","namespace":"p","kind":' +
        '{"kind":"Pod"},"object":{"metadata":{"annotations":{"gateway.svc.dev/memory-limit":"\\u0017"}},"spec":{}}}}',
    ),
  },
  {
    target: 'request-heads',
    why: 'a request line without a version was served',
    input: latin1('POST /\n\r\n'),
  },
  {
    target: 'request-heads',
    why: 'noise behind a request that was answered at once kept the connection until its time was up',
    input: latin1('PUT /p HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n0\r\n\r\n'),
  },
  {
    target: 'upstream-responses',
    why: 'chunked with a tab behind it was chunked for our parser alone',
    input: latin1('\x02JHTTP/1.1 600\r\nTransfer-Encoding:chunked\t\r\n\r\n0\r\n\r\nh'),
  },
]

/** @example corpusOf('request-heads') */
export const corpusOf = (target: string): readonly Buffer[] =>
  EARLIER_FAILURES.filter((each) => each.target === target).map(({ input }) => input)
