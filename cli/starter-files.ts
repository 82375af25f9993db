// Defines the files that `svc init` writes. Data only; tests validate them, and run the lines of the CI jobs.

import { readVersion } from '../telemetry/version.ts'
import { manifestSchema } from './editor/manifest-schema.ts'
import { API_VERSION } from '../operator/resource/resource.ts'

export const CI_SERVICES = ['github', 'gitlab', 'pre-commit'] as const

export type CiService = (typeof CI_SERVICES)[number]

export interface StarterFile {
  /** Relative to the directory that is begun. */
  readonly path: string
  readonly text: string
}

/** @example starterFiles('github').map(({ path }) => path) // ['apis/hello.yaml', …] */
export const starterFiles = (ci: CiService | null): readonly StarterFile[] => [
  { path: 'apis/hello.yaml', text: HELLO },
  { path: SCHEMA_FILE, text: `${JSON.stringify(manifestSchema(), null, 2)}\n` },
  { path: '.vscode/settings.json', text: `${JSON.stringify(VSCODE, null, 2)}\n` },
  ...(ci === null ? [] : [CI_FILES[ci]]),
]

const SCHEMA_FILE = '.svc.schema.json'

const VSCODE = { 'yaml.schemas': { [`./${SCHEMA_FILE}`]: ['apis/**/*.yaml'] } }

const HELLO = `apiVersion: ${API_VERSION}
kind: Realm
metadata:
  name: example
spec:
  uri: com.example
---
apiVersion: ${API_VERSION}
kind: ApiSpecification
metadata:
  name: hello
spec:
  document:
    id: com.example.hello
    host: _ # every host
    realm_uri: com.example
    versions:
      v1:
        base_path: /v1
        paths:
          /hello/:name: # GET /v1/hello/Ada
            get:
              action:
                type: static
                body:
                  text: Hello {{request.bindings.name}}
`

/** The name that `npm pack` gives to its file. */
const PACKAGE = `svc-gateway-${readVersion()}.tgz`

/** What a job needs beside its file, in one sentence. */
export const CI_NEEDS = {
  github: `Then: put ${PACKAGE}, which \`npm pack\` makes in a checkout of svc, into the repository, or its URL into SVC_PACKAGE of the job; leave out --strict where Realms or Secrets are elsewhere`,
  gitlab: `Then: put ${PACKAGE}, which \`npm pack\` makes in a checkout of svc, into the repository, or its URL into SVC_PACKAGE of the job; leave out --strict where Realms or Secrets are elsewhere`,
  'pre-commit': `Then: everybody who commits needs svc on the PATH, as \`npm install --global ${PACKAGE}\` puts it there; leave out --strict where Realms or Secrets are elsewhere`,
} as const satisfies Record<CiService, string>

/** The package is what `npm pack` in a checkout of this project makes; its address is the reader's. */
const CI_FILES: Readonly<Record<CiService, StarterFile>> = {
  github: {
    path: '.github/workflows/apis.yaml',
    text: `name: apis
on: [pull_request]
jobs:
  validate:
    runs-on: ubuntu-latest
    env:
      SVC_PACKAGE: ${PACKAGE} # file or URL of what \`npm pack\` made
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with:
          node-version: 24
      - run: npx --yes --package "$SVC_PACKAGE" svc validate --strict -o github apis
`,
  },
  gitlab: {
    path: '.gitlab-ci.yml',
    text: `apis:
  image: node:24
  variables:
    SVC_PACKAGE: ${PACKAGE} # file or URL of what \`npm pack\` made
  script:
    - npx --yes --package "$SVC_PACKAGE" svc validate --strict -o junit apis > apis.xml
  artifacts:
    when: always
    reports:
      junit: apis.xml
`,
  },
  'pre-commit': {
    path: '.pre-commit-config.yaml',
    text: `repos:
  - repo: local
    hooks:
      - id: svc-validate
        name: svc validate
        language: system
        entry: svc validate --strict apis
        files: ^apis/
        pass_filenames: false
`,
  },
}
