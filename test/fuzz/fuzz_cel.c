/* An expression either is refused when compiled, or evaluates to true, false or an error. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"
#include "enc/json/jdoc.h"
#include "schema/cel.h"
#include "schema/cel_eval.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char object[] =
	"{\"metadata\":{\"name\":\"p\",\"labels\":{\"a\":\"b\"},\"annotations\":{\"x/"
	"y\":\"true\"}},"
	"\"spec\":{\"n\":3,\"d\":1.5,\"b\":true,\"nothing\":null,\"list\":[1,\"two\",{\"k\":3}]}}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(jdoc_destroyp) struct jdoc *doc = NULL;
	struct err err = ERR_INIT;
	struct cel *cel = NULL;
	struct cel_vars vars = { 0 };
	bool truth = false;
	int r = jdoc_parse(STR_LIT(object), &doc, NULL);

	assert(r == 0);
	vars.object = doc;
	r = cel_compile((struct str){ (const char *)data, size }, &cel, &err);
	if (r < 0) {
		assert(err.text[0] != '\0');
		return 0;
	}
	r = cel_eval_bool(cel, &vars, &truth, &err);
	assert(r == 0 || err.text[0] != '\0');
	cel_destroy(cel);
	return 0;
}
