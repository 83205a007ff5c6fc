import { appendFileSync } from 'node:fs'
const file = process.env.NOW_LOG ?? '/tmp/now.log'
const say = (t) => appendFileSync(file, t + '\n')
let passed = 0, failed = 0
export default class {
  onInit() { say(`START ${new Date().toISOString()}`) }
  onTestCaseResult(t) {
    const r = t.result()
    if (process.env.STEPS) say(`${r.state} ${t.module.relativeModuleId} > ${t.fullName}`)
    if (r.state === 'passed') passed++
    if (r.state === 'failed') { failed++; say(`FAIL ${t.module.relativeModuleId} > ${t.fullName}\n${(r.errors ?? []).map((e) => (e.stack ?? e.message ?? '').slice(0, 1800) + (e.diff ? '\n' + e.diff.slice(0, 1500) : '')).join('\n')}`) }
  }
  onTestModuleEnd(m) { const e = m.errors(); if (e.length) say(`MODULE ${m.relativeModuleId}\n${e.map((x) => x.stack ?? x.message).join('\n').slice(0, 2000)}`); say(`done ${m.relativeModuleId} ${m.state()}`) }
  onTestSuiteResult(s) { const e = s.errors(); if (e.length) say(`SUITE ${s.module.relativeModuleId} > ${s.fullName}\n${e.map((x) => x.stack ?? x.message).join('\n').slice(0, 2000)}`) }
  onTestRunEnd(_m, unhandled, reason) { for (const e of unhandled) say(`UNHANDLED ${e.stack ?? e.message}`.slice(0, 3000)); say(`END ${reason} passed ${passed} failed ${failed} ${new Date().toISOString()}`) }
}
