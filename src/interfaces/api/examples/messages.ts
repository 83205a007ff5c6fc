// biome-ignore-all format: recorded; `npx vitest run test/interfaces/description/examples.test.ts -u` records again
import type { Examples } from '../../../http/description/examples.js'

export const examples: Examples = {
  "messages.send": [
    {
      "name": "text",
      "body": {"phone_number": "+5511987654321", "message_type": "text", "text": "Hello Ana"},
      "status": 200,
      "answer": {
        "success": true,
        "message": "Message sent successfully",
        "data": {
          "message_id": "wamid.EXAMPLE1",
          "recipient": "5511987654321",
          "message_type": "text",
          "organization": "Acme",
          "meta_response": {
            "messaging_product": "whatsapp",
            "contacts": [{"input": "5511987654321", "wa_id": "5511987654321"}],
            "messages": [{"id": "wamid.EXAMPLE1"}]
          }
        }
      }
    },
    {
      "name": "missing_required_field",
      "body": {"phone_number": "+5511987654321", "message_type": "text"},
      "status": 400,
      "answer": {"success": false, "error": "Missing required field", "message": "text is required for text messages"}
    },
    {
      "name": "contact_not_found",
      "body": {"phone_number": "+5511955550000", "message_type": "text", "text": "Hello Ana"},
      "status": 404,
      "answer": {
        "success": false,
        "error": "Contact not found",
        "message": "No contact with the number 5511955550000 in this organization: create the contact first (POST /contact)",
        "chat_id": "5511955550000"
      }
    },
    {
      "name": "upstream_rejected_message",
      "body": {"phone_number": "+5511900000001", "message_type": "text", "text": "Hello Ana"},
      "status": 400,
      "answer": {
        "success": false,
        "error": "Upstream rejected message",
        "message": "The upstream refused the message: Message Undeliverable.",
        "details": "Message Undeliverable.",
        "upstream_code": 131026,
        "id": "01a20000-0000-7000-8000-000000000005"
      }
    }
  ],
  "messages.trace": [
    {
      "name": "example",
      "path": {"id": "01a20000-0000-7000-8000-000000000005"},
      "status": 200,
      "answer": {
        "success": true,
        "trace": {
          "message_id": "01a20000-0000-7000-8000-000000000005",
          "contact_id": "01a20000-0000-7000-8000-000000000006",
          "direction": "outbound",
          "status": "failed",
          "outcome": null,
          "trace_id": null,
          "is_complete": true,
          "is_cut": false,
          "entries": [
            {
              "at": "2026-03-02T09:00:00.000Z",
              "kind": "requested",
              "by": {"type": "api_key", "id": "01a20000-0000-7000-8000-000000000007", "name": "test"},
              "request_id": "order-1042",
              "idempotency_key": "order-1042-confirmed"
            },
            {"at": "2026-03-02T09:00:00.000Z", "kind": "recorded", "duration_ms": 42},
            {
              "at": "2026-03-02T09:00:00.000Z",
              "kind": "called",
              "duration_ms": 42,
              "outcome": "refused",
              "http_status": 400,
              "error_code": 131026,
              "text": "Message Undeliverable.",
              "upstream_request_id": "AbCdEfGhIjK"
            },
            {
              "at": "2026-03-02T09:00:00.000Z",
              "kind": "event_raised",
              "event_id": "01a20000-0000-7000-8000-000000000008",
              "event_type": "message.failed"
            }
          ]
        }
      }
    },
    {
      "name": "message_not_found",
      "path": {"id": "wamid.EXAMPLE2"},
      "status": 404,
      "answer": {
        "success": false,
        "error": "Message not found",
        "message": "There is no message with the id wamid.EXAMPLE2 in this organization"
      }
    }
  ],
  "messages.sendTemplate": [
    {
      "name": "example",
      "body": {"templateName": "hello_world", "chatNumber": "+5511987654321"},
      "status": 200,
      "answer": {
        "success": true,
        "summary": {"total": 1, "successful": 1, "failed": 0},
        "results": [
          {
            "contactId": "01a20000-0000-7000-8000-000000000002",
            "contactName": "Ana Souza",
            "success": true,
            "messageId": "wamid.EXAMPLE4",
            "error": null
          }
        ],
        "broadcastId": "01a20000-0000-7000-8000-000000000011"
      }
    },
    {
      "name": "template_not_found",
      "body": {"templateName": "summer_sale", "chatNumber": "+5511987654321"},
      "status": 400,
      "answer": {
        "success": false,
        "error": "Template not found",
        "message": "There is no template \"summer_sale\": approved templates are hello_world, nova_colecao, oferta_da_semana, pedido_enviado"
      }
    }
  ]
}
