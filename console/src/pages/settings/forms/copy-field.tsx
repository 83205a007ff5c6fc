import { ActionIcon, Textarea, TextInput, Tooltip } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { useRef } from 'react'
import { useTranslation } from 'react-i18next'
import classes from './copy-field.module.css'

interface CopyFieldProps {
  label: string
  value: string
  description?: string
  /** Wraps long values instead of cutting them. */
  isLong?: boolean
}

/** A value to copy. */
export function CopyField({ label, value, description, isLong = false }: CopyFieldProps) {
  const { t } = useTranslation('settings')
  const clipboard = useClipboard()
  const input = useRef<HTMLInputElement & HTMLTextAreaElement>(null)
  const copy = () => {
    // Without a clipboard (plain http), the text is selected to be copied manually.
    input.current?.select()
    clipboard.copy(value)
  }
  const Icon = clipboard.copied ? IconCheck : IconCopy
  const word = t(clipboard.copied ? 'copied' : 'copy', { ns: 'common' })
  const shared = {
    label,
    description,
    value,
    readOnly: true,
    error: clipboard.error ? t('copyByHand') : undefined,
    onFocus: (event: { currentTarget: HTMLInputElement | HTMLTextAreaElement }) => event.currentTarget.select(),
    classNames: { input: classes.input },
    spellCheck: false,
    ref: input,
    rightSection: (
      <Tooltip label={word}>
        <ActionIcon
          variant="subtle"
          color={clipboard.copied ? 'teal' : 'gray'}
          onClick={copy}
          aria-label={`${word}: ${label}`}
        >
          <Icon size={18} aria-hidden />
        </ActionIcon>
      </Tooltip>
    ),
  }
  return isLong ? <Textarea {...shared} autosize maxRows={6} /> : <TextInput {...shared} />
}
