import { Text } from '@mantine/core'
import { IconForms, IconHome } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import type { ContentOf } from '../../../../../../../src/model/messages/shown/schemas.js'
import { asObject, asText } from '../../../../../shared/json.js'
import classes from './body.module.css'

/** How many characters of one answer are shown. */
const MAX_ANSWER = 500

/** What the customer filled in. The field of the token is for programs. */
export function FilledForm({ content }: { content: ContentOf<'flow'> }) {
  const { t } = useTranslation('thread')
  const { body, flow, flow_text: unread, truncated } = content
  const fields = Object.entries(asObject(flow)).filter(([name]) => name !== 'flow_token')
  const isValue = typeof flow !== 'object' || Array.isArray(flow)
  const answer = isValue ? toText(flow) : (unread ?? body)
  return (
    <Fields
      title={t('kinds.form')}
      icon={<IconForms aria-hidden size={16} className={classes.inline} />}
      text={fields.length === 0 ? answer : null}
      fields={fields}
      truncated={truncated}
    />
  )
}

/** An address that the customer filled in. */
export function FilledAddress({ content: { body, values, truncated } }: { content: ContentOf<'address'> }) {
  const { t } = useTranslation('thread')
  const fields = Object.entries(values)
  return (
    <Fields
      title={t('kinds.address')}
      icon={<IconHome aria-hidden size={16} className={classes.inline} />}
      text={fields.length === 0 ? body : null}
      fields={fields}
      truncated={truncated}
    />
  )
}

function toText(value: unknown): string {
  return (asText(value) ?? JSON.stringify(value)).slice(0, MAX_ANSWER)
}

interface FieldsProps {
  title: string
  icon: ReactNode
  text: string | null
  fields: [name: string, value: unknown][]
  /** Whether a part of the answer is not shown. */
  truncated: boolean | undefined
}

function Fields({ title, icon, text, fields, truncated }: FieldsProps) {
  const { t } = useTranslation('thread')
  return (
    <div className={classes.box}>
      <Text size="sm" fw={600}>
        {icon} {title}
      </Text>
      {text && (
        <Text size="sm" className={classes.text} p={0}>
          {text}
        </Text>
      )}
      {fields.length > 0 && (
        <ul className={classes.options}>
          {fields.map(([name, value]) => (
            <li key={name}>
              <Text size="xs" className={classes.dim}>
                {name}
              </Text>
              {toText(value)}
            </li>
          ))}
        </ul>
      )}
      {truncated && (
        <Text size="xs" className={classes.dim}>
          {t('truncated')}
        </Text>
      )}
    </div>
  )
}
