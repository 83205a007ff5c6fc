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
    },
    {
      "name": "image",
      "body": {
        "phone_number": "+5511987654321",
        "message_type": "image",
        "media_url": "https://shop.example/jpeg/dress.jpg",
        "caption": "The blue one"
      },
      "status": 200,
      "answer": {
        "success": true,
        "message": "Message sent successfully",
        "data": {
          "message_id": "wamid.EXAMPLE2",
          "recipient": "5511987654321",
          "message_type": "image",
          "organization": "Acme",
          "meta_response": {
            "messaging_product": "whatsapp",
            "contacts": [{"input": "5511987654321", "wa_id": "5511987654321"}],
            "messages": [{"id": "wamid.EXAMPLE2"}]
          }
        }
      }
    },
    {
      "name": "video",
      "body": {
        "phone_number": "+5511987654321",
        "message_type": "video",
        "media_url": "https://shop.example/mp4/dress.mp4",
        "caption": "How it falls"
      },
      "status": 200,
      "answer": {
        "success": true,
        "message": "Message sent successfully",
        "data": {
          "message_id": "wamid.EXAMPLE3",
          "recipient": "5511987654321",
          "message_type": "video",
          "organization": "Acme",
          "meta_response": {
            "messaging_product": "whatsapp",
            "contacts": [{"input": "5511987654321", "wa_id": "5511987654321"}],
            "messages": [{"id": "wamid.EXAMPLE3"}]
          }
        }
      }
    },
    {
      "name": "audio",
      "body": {"phone_number": "+5511987654321", "message_type": "audio", "media_url": "https://shop.example/mp3/hello.mp3"},
      "status": 200,
      "answer": {
        "success": true,
        "message": "Message sent successfully",
        "data": {
          "message_id": "wamid.EXAMPLE4",
          "recipient": "5511987654321",
          "message_type": "audio",
          "organization": "Acme",
          "meta_response": {
            "messaging_product": "whatsapp",
            "contacts": [{"input": "5511987654321", "wa_id": "5511987654321"}],
            "messages": [{"id": "wamid.EXAMPLE4"}]
          }
        }
      }
    },
    {
      "name": "document",
      "body": {
        "phone_number": "+5511987654321",
        "message_type": "document",
        "media_url": "https://shop.example/pdf/invoice.pdf",
        "filename": "invoice-1001.pdf"
      },
      "status": 200,
      "answer": {
        "success": true,
        "message": "Message sent successfully",
        "data": {
          "message_id": "wamid.EXAMPLE5",
          "recipient": "5511987654321",
          "message_type": "document",
          "organization": "Acme",
          "meta_response": {
            "messaging_product": "whatsapp",
            "contacts": [{"input": "5511987654321", "wa_id": "5511987654321"}],
            "messages": [{"id": "wamid.EXAMPLE5"}]
          }
        }
      }
    },
    {
      "name": "location",
      "body": {
        "phone_number": "+5511987654321",
        "message_type": "location",
        "location": {"latitude": -23.5614, "longitude": -46.6559, "name": "Our shop", "address": "Av. Paulista, 1578"}
      },
      "status": 200,
      "answer": {
        "success": true,
        "message": "Message sent successfully",
        "data": {
          "message_id": "wamid.EXAMPLE6",
          "recipient": "5511987654321",
          "message_type": "location",
          "organization": "Acme",
          "meta_response": {
            "messaging_product": "whatsapp",
            "contacts": [{"input": "5511987654321", "wa_id": "5511987654321"}],
            "messages": [{"id": "wamid.EXAMPLE6"}]
          }
        }
      }
    },
    {
      "name": "contacts",
      "body": {
        "phone_number": "+5511987654321",
        "message_type": "contacts",
        "contacts": [
          {
            "name": {"formatted_name": "Bruno Lima", "first_name": "Bruno", "last_name": "Lima"},
            "phones": [{"phone": "+5511912345678", "type": "WORK"}]
          }
        ]
      },
      "status": 200,
      "answer": {
        "success": true,
        "message": "Message sent successfully",
        "data": {
          "message_id": "wamid.EXAMPLE7",
          "recipient": "5511987654321",
          "message_type": "contacts",
          "organization": "Acme",
          "meta_response": {
            "messaging_product": "whatsapp",
            "contacts": [{"input": "5511987654321", "wa_id": "5511987654321"}],
            "messages": [{"id": "wamid.EXAMPLE7"}]
          }
        }
      }
    },
    {
      "name": "interactive_buttons",
      "body": {
        "phone_number": "+5511987654321",
        "message_type": "interactive",
        "interactive": {
          "type": "button",
          "body": "Shall we send it?",
          "buttons": [{"id": "yes", "title": "Yes"}, {"id": "no", "title": "No"}]
        }
      },
      "status": 200,
      "answer": {
        "success": true,
        "message": "Message sent successfully",
        "data": {
          "message_id": "wamid.EXAMPLE8",
          "recipient": "5511987654321",
          "message_type": "interactive",
          "organization": "Acme",
          "meta_response": {
            "messaging_product": "whatsapp",
            "contacts": [{"input": "5511987654321", "wa_id": "5511987654321"}],
            "messages": [{"id": "wamid.EXAMPLE8"}]
          }
        }
      }
    },
    {
      "name": "interactive_list",
      "body": {
        "phone_number": "+5511987654321",
        "message_type": "interactive",
        "interactive": {
          "type": "list",
          "body": "Which size?",
          "button": "Sizes",
          "sections": [
            {
              "title": "Dresses",
              "rows": [{"id": "s", "title": "Small"}, {"id": "m", "title": "Medium", "description": "Fits most"}]
            }
          ]
        }
      },
      "status": 200,
      "answer": {
        "success": true,
        "message": "Message sent successfully",
        "data": {
          "message_id": "wamid.EXAMPLE9",
          "recipient": "5511987654321",
          "message_type": "interactive",
          "organization": "Acme",
          "meta_response": {
            "messaging_product": "whatsapp",
            "contacts": [{"input": "5511987654321", "wa_id": "5511987654321"}],
            "messages": [{"id": "wamid.EXAMPLE9"}]
          }
        }
      }
    },
    {
      "name": "reaction",
      "body": {
        "phone_number": "+5511987654321",
        "message_type": "reaction",
        "reaction": {"message_id": "01a20000-0000-7000-8000-000000000006", "emoji": "👍"}
      },
      "status": 200,
      "answer": {
        "success": true,
        "message": "Message sent successfully",
        "data": {
          "message_id": "wamid.EXAMPLE10",
          "recipient": "5511987654321",
          "message_type": "reaction",
          "organization": "Acme",
          "meta_response": {
            "messaging_product": "whatsapp",
            "contacts": [{"input": "5511987654321", "wa_id": "5511987654321"}],
            "messages": [{"id": "wamid.EXAMPLE10"}]
          }
        }
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
          "contact_id": "01a20000-0000-7000-8000-000000000007",
          "direction": "outbound",
          "status": "failed",
          "outcome": null,
          "trace_id": null,
          "is_cut": false,
          "entries": [
            {
              "at": "2026-03-02T09:00:00.000Z",
              "kind": "requested",
              "by": {"type": "api_key", "id": "01a20000-0000-7000-8000-000000000008", "name": "test"},
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
              "event_id": "01a20000-0000-7000-8000-000000000009",
              "event_type": "message.failed"
            }
          ]
        }
      }
    },
    {
      "name": "message_not_found",
      "path": {"id": "wamid.EXAMPLE11"},
      "status": 404,
      "answer": {
        "success": false,
        "error": "Message not found",
        "message": "There is no message with the id wamid.EXAMPLE11 in this organization"
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
            "messageId": "wamid.EXAMPLE13",
            "error": null
          }
        ],
        "broadcastId": "01a20000-0000-7000-8000-000000000012"
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
