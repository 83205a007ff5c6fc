// A reporter of vitest: writes how many errors nothing caught into a file beside the JSON report, which does not hold them.
import { writeFileSync } from 'node:fs'

export default class UncaughtErrors {
  #report

  onInit({ config }) {
    this.#report = config.outputFile.json
  }

  onTestRunEnd(_files, errors) {
    writeFileSync(`${this.#report}.uncaught`, String(errors.length))
  }
}
