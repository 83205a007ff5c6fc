import { ActionIcon, Menu, TextInput, Tooltip } from '@mantine/core'
import { IconBraces } from '@tabler/icons-react'
import { type ReactNode, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { PLACEHOLDERS } from '../../../../shared/templates/template-preview.js'

interface VariableFieldProps {
  path: string
  label: string
  description: string | undefined
  isRequired: boolean
  value: string
  error: ReactNode
  onChange: (value: string) => void
}

/** The value of a variable, which may contain placeholders for contact details. */
export function VariableField({ path, label, description, isRequired, value, error, onChange }: VariableFieldProps) {
  const { t } = useTranslation('broadcasts')
  const input = useRef<HTMLInputElement>(null)
  const insert = (placeholder: string) => {
    const start = input.current?.selectionStart ?? value.length
    const end = input.current?.selectionEnd ?? start
    const text = `{{${placeholder}}}`
    onChange(value.slice(0, start) + text + value.slice(end))
    // After the field is rendered and the menu has returned the focus.
    setTimeout(() => {
      input.current?.focus()
      input.current?.setSelectionRange(start + text.length, start + text.length)
    }, 0)
  }
  return (
    <TextInput
      ref={input}
      label={label}
      description={description}
      withAsterisk={isRequired}
      value={value}
      error={error}
      maxLength={4096}
      data-path={path}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
      rightSection={
        <Menu position="bottom-end" returnFocus={false}>
          <Menu.Target>
            <Tooltip label={t('compose.insert')}>
              <ActionIcon variant="subtle" color="gray" aria-label={t('compose.insertInto', { label })}>
                <IconBraces aria-hidden size={18} />
              </ActionIcon>
            </Tooltip>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Label>{t('compose.insertHint')}</Menu.Label>
            {PLACEHOLDERS.map((placeholder) => (
              <Menu.Item key={placeholder} onClick={() => insert(placeholder)}>
                {t(`placeholders.${placeholder}`)}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      }
    />
  )
}
