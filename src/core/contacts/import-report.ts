import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import type { Context } from '../../context.js'
import { MEBIBYTE } from '../../lib/units.js'
import type { ImportResult, ImportSummary } from './import-file.js'

/** The report of an import, for whoever asks again. */
export interface KeptReport {
  success: true
  summary: ImportSummary
  results: ImportResult[]
  /** There were more rows than could be kept: only failed ones, from the first on. */
  results_truncated?: true
}

/** The report of an import: what is kept of it, and the whole of it, a JSON document to be read once. */
export interface ImportReport {
  kept: KeptReport
  whole: Readable
}

/** How many characters of results are kept. */
const MAX_KEPT = MEBIBYTE
/** Room for what stands before the results, which is known when they have all been written; what is left of it stands blank in front. */
const HEAD_LENGTH = 256

/** An import that hands its results over as they come, and resolves to how many there were of each. */
export type ReportingImport = (report: (results: ImportResult[]) => Promise<void>) => Promise<ImportSummary>

/** Imports, and writes the report into a file, so that it may be of any size. */
export function importWithReport(ctx: Pick<Context, 'spool'>, work: ReportingImport): Promise<ImportReport> {
  return ctx.spool.use(async (reportPath) => {
    const file = await open(reportPath, 'wx', 0o600)
    try {
      const kept = await writeReport(file, work)
      return { kept, whole: await openReport(reportPath) }
    } finally {
      await file.close()
    }
  })
}

async function writeReport(file: FileHandle, work: ReportingImport): Promise<KeptReport> {
  const all = createKeeper()
  const failures = createKeeper()
  let separator = ''
  await file.writeFile(' '.repeat(HEAD_LENGTH))
  const summary = await work(async (results) => {
    const texts = results.map((result) => JSON.stringify(result))
    all.keep(results, texts)
    failures.keep(...onlyFailed(results, texts))
    await file.writeFile(separator + texts.join(','))
    separator = ','
  })
  await file.writeFile(']}')
  const head = `{"success":true,"summary":${JSON.stringify(summary)},"results":[`
  await file.write(head.padStart(HEAD_LENGTH), 0)
  if (all.isWhole()) return { success: true, summary, results: all.results }
  return { success: true, summary, results: failures.results, results_truncated: true }
}

function onlyFailed(results: readonly ImportResult[], texts: readonly string[]): [ImportResult[], string[]] {
  const isFailed = (_: unknown, index: number) => results[index]?.status === 'failed'
  return [results.filter(isFailed), texts.filter(isFailed)]
}

/** Takes results until the first that makes them too many. */
function createKeeper() {
  const kept: ImportResult[] = []
  let length = 0
  return {
    results: kept,
    isWhole: () => length <= MAX_KEPT,
    keep: (results: readonly ImportResult[], texts: readonly string[]) => {
      results.forEach((result, index) => {
        length += (texts[index] as string).length + 1
        if (length <= MAX_KEPT) kept.push(result)
      })
    },
  }
}

/** Opened, it can be read although the spool removes it. */
async function openReport(path: string): Promise<Readable> {
  const stream = createReadStream(path)
  await once(stream, 'open')
  return stream
}
