// Renders docs/cli.md from the tables of the commands of `svc`.

import { COMMANDS, type CommandName } from '../../cli/commands.ts'
import { renderHelpOfCommand } from '../../cli/help.ts'
import { CI_SERVICES, type CiService, starterFiles } from '../../cli/starter-files.ts'

const NAMES = {
  github: 'GitHub Actions',
  gitlab: 'GitLab',
  'pre-commit': 'pre-commit',
} as const satisfies Record<CiService, string>

const HEAD = `# The command line: svc

Generated from the commands by \`make golden\`; do not edit.

\`svc\` is for people who write API documents, and for their CI. It needs Node 24.9 or newer and nothing else, and runs in any directory. The programs that run all the time are \`svc-gateway\` and \`svc-operator\`: [settings.md](settings.md).

## Getting it

- In a checkout of this project: \`npm run -s svc -- validate /path/to/apis\`.
- Everywhere else, from a package that \`npm pack\` makes in the checkout: \`npm install --global svc-gateway-0.1.0.tgz\` puts \`svc\` on the PATH; \`npx --yes --package ./svc-gateway-0.1.0.tgz svc validate apis\` runs it without installing.
- In the image: \`docker run --rm -v "$PWD/apis:/apis:ro" svc-gateway:0.1.0 svc validate /apis\`.

Results go to stdout, everything else to stderr. \`-o json\` prints the result of any command as data, \`svc validate\` has more forms. The exit code is 0 if all is well, 1 if something was found, 2 if the command could not be run; \`apply\` and \`diff\` have 3 and 4 too, which their help explains. Colours are used on a terminal only, and not where \`NO_COLOR\` is set.

## In CI

\`svc init --ci github\`, \`gitlab\` or \`pre-commit\` writes a job that validates each change. It names the package in \`SVC_PACKAGE\`: a file in the repository, or the URL at which you keep it. \`--strict\` also fails for warnings, and for notices, which say what the files refer to but do not contain; leave it out where Realms and Secrets are in another repository.

| service | format | what it shows |
|---|---|---|
| GitHub Actions | \`-o github\` | annotations at the lines of the pull request |
| GitHub code scanning | \`-o sarif > svc.sarif\`, then \`github/codeql-action/upload-sarif\` | alerts |
| GitLab, Jenkins, CircleCI | \`-o junit > svc.xml\` | a test for each file |
| others | \`-o json\` | diagnostics with file, line, column, pointer, code and message |

${CI_SERVICES.map(recipe).join('\n')}
## With a cluster

\`svc apply\`, \`svc status\` and \`svc diff --cluster\` find the cluster as kubectl does: \`--kubeconfig\`, \`$KUBECONFIG\`, the service account of the Pod, \`~/.kube/config\`, with \`--context\` and \`-n\`. They need the rights of the roles \`edit\` (ApiSpecifications, Secrets, ConfigMaps) and \`admin\` (Realms) of a namespace; \`status\` and \`diff\` need \`view\`.

\`svc apply\` validates the files, then has the cluster check all of them by a dry run (rights, conflicts, admission), and only then changes something. It applies ApiSpecifications, Realms, Secrets, ConfigMaps and Namespaces server-side as the field manager \`svc\`, and nothing else; a directory with other kinds is refused. It never deletes. Then it waits until every gateway serves what was applied, and names the field and its line where one does not:

\`\`\`
$ svc apply apis/
Realm shop/acme unchanged
ApiSpecification shop/orders configured
ApiSpecification shop/orders is not served: Conflicted
  apis/orders.yaml:11:13 /spec/document/id the id 'orders' belongs to ApiSpecification shop/old: give this one another, or delete the other
\`\`\`

\`svc apply --dry-run\` prints what would change as \`svc diff\` does, once everything else of the cluster is taken into account.

## What a change means

\`svc diff OLD NEW\` compares two files or directories, \`svc diff --gateway URL FILE…\` and \`svc diff --cluster FILE…\` files with what is loaded: documents with everything inherited and folded, routes joined by host, path and method, Realms by uri, and between files Secrets too. So a key that moves from an operation to its path, another name of a version or a binding, and lists in another order are no difference.

\`\`\`
$ svc diff main/apis apis
loosened  ~ realm com.acme  users.bob unset → {"username":"bob","groups":["staff"]}
may break ~ GET api.acme.com/v1/orders  limits.timeout 5000 → 1000
loosened  ~ GET api.acme.com/v1/orders  security basic → basic or none (networks: 10.0.0.0/8)
breaking  - GET api.acme.com/v1/orders/:id  action forward → http://orders:8080, security basic
changed   + GET api.acme.com/v1/stock  action forward → http://stock:8080, security basic
5 differences: 2 loosened, 1 breaking, 1 may break, 1 changed
\`\`\`

- **loosened**: more callers get in than before, or it cannot be ruled out: security, \`cors\`, http where there was https alone, users, keys, issuers and identity providers, a rate limit that is gone or lets more through, a schema that is gone, or that no longer holds results back.
- **breaking**: a caller that was served will not be, or gets another status, as by a new schema or rate limit. **may break**: that depends on the caller, or nothing better is known, as of a key that has no rule of its own.
- **changed**: neither. A new route is changed even where it takes requests from a more general one, and so is another upstream.

A hash or secret, in a Realm or under the name of one in a document, is \`(hidden) has changed\`. A gateway shows none of those of its Realms, so that they are not compared with it, nor are values of Secrets with a gateway or a cluster. A member of a body or a header that is new counts as changed, another value as may break. What an OpenAPI description says is no difference of its own.

The exit code is 0 without a difference, 3 if security is loosened, else 4 if anything breaks or may break a caller, else 1; 2 if a document has to be left out. In a pull request:

\`\`\`sh
git worktree add ../main origin/main
svc diff ../main/apis apis -o github
\`\`\`

## In an editor

\`svc schema > .svc.schema.json\` writes one JSON Schema for ApiSpecifications, Realms, Secrets, ConfigMaps and plain documents; \`svc init\` does it for you. It completes keys, kinds, types and the keywords of JSON Schemas below \`schema\`, inserts whole resources, and underlines unknown keys and values of the wrong type. Expressions, paths and references are validated by \`svc validate\`.

VS Code with the *YAML* extension, in \`.vscode/settings.json\`:

\`\`\`json
{ "yaml.schemas": { "./.svc.schema.json": ["apis/**/*.yaml"] } }
\`\`\`

Neovim with \`lspconfig\`:

\`\`\`lua
vim.lsp.config('yamlls', { settings = { yaml = { schemas = { ['./.svc.schema.json'] = 'apis/**/*.yaml' } } } })
vim.lsp.enable('yamlls')
\`\`\`

Any other editor with yaml-language-server (JetBrains IDEs have the same setting under *JSON Schema Mappings*), as the first line of a file:

\`\`\`yaml
# yaml-language-server: $schema=../.svc.schema.json
\`\`\`

## Commands
`

/** What `svc init` writes for it: a test runs its commands. */
function recipe(service: CiService): string {
  const { path, text } = starterFiles(service).at(-1) ?? { path: '', text: '' }
  return `${NAMES[service]}, in \`${path}\`:\n\n\`\`\`yaml\n${text}\`\`\`\n`
}

const REASONS = `## Who needs which setting

| setting | who needs it |
|---|---|`

export const renderCliPage = async (): Promise<string> => {
  const names = Object.keys(COMMANDS) as CommandName[]
  const tables = await Promise.all(names.map(async (name) => (await COMMANDS[name].load()).table))
  const sections = tables.map(
    (table) => `### ${table.program}\n\n\`\`\`\n${renderHelpOfCommand(table)}\`\`\`\n`,
  )
  const reasons = new Set(
    tables.flatMap(({ settings }) =>
      Object.entries(settings).map(([name, { reason }]) => `| \`--${name}\` | ${reason} |`),
    ),
  )
  return [HEAD, ...sections, REASONS, ...reasons, ''].join('\n')
}
